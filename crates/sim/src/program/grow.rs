//! Programs grown from a seed: well formed, and full of what interpreters get wrong.
//!
//! Names are few, so that they are shadowed and reassigned all the time; lists are short and often empty; most
//! numbers are small. What is grown may not be understood by the compiler (a name that is only assigned further down): then there
//! is nothing to compare.

use crate::dice::Dice;

/// How many statements a program has, about.
const STATEMENTS: i32 = 22;
/// Letters of a value that is too large for the row of the composite behind it.
const LARGE: usize = 1_100;
const NUMBERS: [&str; 3] = ["a", "b", "c"];
const LISTS: [&str; 2] = ["xs", "ys"];
const KINDS: [&str; 6] = ["A", "B", "C", "D", "Base", "EvalError"];

/// The text of the program of a seed.
pub fn grow(seed: u64) -> String {
    let mut grower = Grower {
        dice: Dice::new(seed),
        lines: Vec::new(),
        left: STATEMENTS,
        counters: 0,
        known: Vec::new(),
        callable: 0..3,
    };
    let policy = if grower.dice.one_in(4) { format!(" {}", grower.policy()) } else { String::new() };
    grower.known = ["a", "xs"].map(String::from).to_vec();
    grower.line(0, &format!("flow test(a=1, xs=[3, 1, 2]){policy}:"));
    grower.line(1, "b = 2");
    grower.line(1, "ys = []");
    // Not by the dice, so that what grows otherwise stays as it was.
    let large = seed.is_multiple_of(4).then(|| format!("big = \"{}\"", "x".repeat(LARGE)));
    large.iter().for_each(|line| grower.line(1, line));
    grower.known.extend(["b", "ys"].map(String::from));
    grower.block(Place { depth: 1, in_loop: false, in_handler: false });
    grower.line(1, "return [a, b, xs, ys]");
    for number in 0..3 {
        grower.left = STATEMENTS / 4;
        grower.callable = number + 1..3;
        grower.known = ["a", "xs"].map(String::from).to_vec();
        grower.line(0, "");
        grower.line(0, &format!("fn f{number}(a, xs=[1, 2]):"));
        large.iter().for_each(|line| grower.line(1, line));
        grower.block(Place { depth: 1, in_loop: false, in_handler: false });
        if grower.dice.one_in(2) {
            let value = grower.number();
            grower.line(1, &format!("return {value}"));
        }
    }
    grower.lines.join("\n") + "\n"
}

#[derive(Clone, Copy)]
struct Place {
    depth: usize,
    in_loop: bool,
    in_handler: bool,
}

impl Place {
    fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn in_loop(self) -> Self {
        Self { in_loop: true, ..self.inner() }
    }

    fn in_handler(self) -> Self {
        Self { in_handler: true, ..self.inner() }
    }
}

struct Grower {
    dice: Dice,
    lines: Vec<String>,
    left: i32,
    counters: u32,
    /// Names that were assigned above.
    known: Vec<String>,
    /// The functions that may be called from here.
    callable: std::ops::Range<u32>,
}

impl Grower {
    fn line(&mut self, depth: usize, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(depth)));
    }

    fn block(&mut self, place: Place) {
        let count = 1 + self.dice.below(4);
        let before = self.lines.len();
        for _ in 0..count {
            if self.left > 0 {
                self.left -= 1;
                self.statement(place);
            }
        }
        if self.lines.len() == before {
            self.line(place.depth, "pass");
        }
    }

    fn statement(&mut self, place: Place) {
        let deep = place.depth > 6;
        match self.dice.below(if deep { 60 } else { 100 }) {
            0..16 => self.assign(place),
            16..34 => self.work(place),
            34..38 => self.exit(place),
            38..42 => self.raise(place),
            42..44 => {
                let span = *self.dice.pick(&["1s", "a", "b", "\"2m\"", "0", "xs", "-1"]);
                self.line(place.depth, &format!("sleep {span}"));
            }
            44..60 => self.act(place),
            60..72 => self.branch(place),
            72..80 => self.each(place),
            80..86 => self.again(place),
            _ => self.tried(place),
        }
    }

    fn assign(&mut self, place: Place) {
        if self.dice.one_in(5) {
            let (one, other) = (self.number(), self.number());
            let list = if self.dice.one_in(4) { self.list() } else { format!("[{one}, {other}]") };
            let names = *self.dice.pick(&[["a", "b"], ["b", "a"], ["a", "a"], ["c", "b"]]);
            self.line(place.depth, &format!("{}, {} = {list}", names[0], names[1]));
            return names.iter().for_each(|name| self.know(name));
        }
        if self.dice.one_in(3) {
            let (name, list) = (*self.dice.pick(&LISTS), self.list());
            self.line(place.depth, &format!("{name} = {list}"));
            return self.know(name);
        }
        let (name, value) = (*self.dice.pick(&NUMBERS), self.number());
        self.line(place.depth, &format!("{name} = {value}"));
        self.know(name);
    }

    fn know(&mut self, name: &str) {
        if !self.known.iter().any(|known| known == name) {
            self.known.push(name.to_owned());
        }
    }

    /// An action whose result is kept or not.
    fn act(&mut self, place: Place) {
        let call = self.action(false);
        match self.dice.below(4) {
            0 => self.line(place.depth, &call),
            1 if self.dice.one_in(2) => {
                self.line(place.depth, &format!("a, b = {call}"));
                self.know("b");
            }
            2 if self.dice.one_in(3) => self.line(place.depth, &format!("return {call}")),
            _ => {
                let name = *self.dice.pick(&NUMBERS);
                self.line(place.depth, &format!("{name} = {call}"));
                self.know(name);
            }
        }
    }

    /// Work that is more than one action.
    fn work(&mut self, place: Place) {
        let target = match self.dice.below(4) {
            0 => String::new(),
            1 if self.dice.one_in(4) => "return ".to_owned(),
            _ => format!("{} = ", self.dice.pick(&["xs", "ys", "a", "b"])),
        };
        match self.dice.below(3) {
            0 => {
                let call = self.function().unwrap_or_else(|| self.action(false));
                self.line(place.depth, &format!("{target}{call}"));
            }
            1 => {
                let (list, item) = (self.list(), *self.dice.pick(&["a", "i", "xs"]));
                let call = self.arm(item);
                let gather = self.gather();
                self.line(place.depth, &format!("{target}spread {list}:{item} -> {call}{gather}"));
            }
            _ => {
                let gather = self.gather();
                self.line(place.depth, &format!("{target}parallel{gather}:"));
                for _ in 0..1 + self.dice.below(3) {
                    let call = self.arm("");
                    self.line(place.depth + 1, &call);
                }
            }
        }
        if let Some(name) = target.strip_suffix(" = ") {
            self.know(name);
        }
    }

    fn arm(&mut self, item: &str) -> String {
        let inner = !item.is_empty() && !self.known.iter().any(|known| known == item);
        if inner {
            self.known.push(item.to_owned());
        }
        let function = if self.dice.one_in(2) { self.function() } else { None };
        let call = function.unwrap_or_else(|| self.action(true));
        if inner {
            self.known.pop();
        }
        call
    }

    fn gather(&mut self) -> String {
        match self.dice.below(8) {
            0 => " [fail_fast]".into(),
            1 => format!(" [tolerate: {}]", self.dice.below(3)),
            2 => " [tolerate: 1, fail_fast]".into(),
            _ => String::new(),
        }
    }

    /// `f0(…)`, if there is a function to call.
    fn function(&mut self) -> Option<String> {
        let count = u64::from(self.callable.end - self.callable.start);
        let number = self.callable.start + self.dice.index(count as usize)? as u32;
        let value = self.number();
        Some(match self.dice.below(3) {
            0 => format!("f{number}({value})"),
            1 => format!("f{number}({value}, xs={})", self.list()),
            _ => format!("f{number}(xs={}, a={value})", self.list()),
        })
    }

    fn action(&mut self, in_arm: bool) -> String {
        let value = if self.dice.one_in(4) { self.list() } else { self.number() };
        let kind = *self.dice.pick(&KINDS);
        let call = match self.dice.below(10) {
            0..4 => format!("@echo(v={value})"),
            4 => format!("@list(n={value})"),
            5 => format!("@map(v={value})"),
            6 => format!("@pair(v={value})"),
            7 => format!("@fail(type=\"{kind}\", v={value})"),
            8 => format!("@fail(type=\"{kind}\", v={value}, again=false)"),
            _ => format!("@flaky(type=\"{kind}\", n={value})"),
        };
        let policy =
            if self.dice.one_in(if in_arm { 6 } else { 4 }) { format!(" {}", self.policy()) } else { String::new() };
        call + &policy
    }

    fn policy(&mut self) -> String {
        let (count, kind) = (1 + self.dice.below(4), *self.dice.pick(&KINDS));
        match self.dice.below(4) {
            0 => format!("[retry: {count}, backoff: 5s]"),
            1 => format!("[{kind} -> retry: {count}]"),
            2 => format!("[retry: {count}] [{kind} -> retry: {}]", 1 + self.dice.below(5)),
            _ => format!("[{kind}, C -> backoff: 1s] [Base -> retry: {count}]"),
        }
    }

    fn exit(&mut self, place: Place) {
        match self.dice.below(4) {
            0 => {
                let value = self.number();
                self.line(place.depth, &format!("return {value}"));
            }
            1 if place.in_loop => self.line(place.depth, "continue"),
            2 if place.in_loop => self.line(place.depth, "break"),
            _ => self.line(place.depth, "pass"),
        }
    }

    fn raise(&mut self, place: Place) {
        if place.in_handler && self.dice.one_in(2) {
            return self.line(place.depth, "raise");
        }
        let (kind, value) = (*self.dice.pick(&KINDS), self.number());
        match self.dice.below(3) {
            0 => self.line(place.depth, &format!("raise {kind}(\"said\")")),
            _ => self.line(place.depth, &format!("raise {kind}({value})")),
        }
    }

    fn branch(&mut self, place: Place) {
        let condition = self.condition();
        self.line(place.depth, &format!("if {condition}:"));
        self.block(place.inner());
        if self.dice.one_in(3) {
            let condition = self.condition();
            self.line(place.depth, &format!("elif {condition}:"));
            self.block(place.inner());
        }
        if self.dice.one_in(2) {
            self.line(place.depth, "else:");
            self.block(place.inner());
        }
    }

    fn each(&mut self, place: Place) {
        let (item, list) = (*self.dice.pick(&["a", "i", "xs", "c"]), self.list());
        self.line(place.depth, &format!("for {item} in {list}:"));
        self.know(item);
        self.block(place.in_loop());
    }

    fn again(&mut self, place: Place) {
        let name = format!("w{}", self.counters);
        self.counters += 1;
        let rounds = self.dice.below(4);
        self.line(place.depth, &format!("{name} = 0"));
        self.know(&name);
        let more = if self.dice.one_in(3) { format!(" && {}", self.condition()) } else { String::new() };
        self.line(place.depth, &format!("while {name} < {rounds}{more}:"));
        self.line(place.depth + 1, &format!("{name} = {name} + 1"));
        self.block(place.in_loop());
    }

    fn tried(&mut self, place: Place) {
        self.line(place.depth, "try:");
        self.block(place.inner());
        for _ in 0..self.dice.below(3) {
            let (kind, other) = (*self.dice.pick(&KINDS), *self.dice.pick(&KINDS));
            let kinds = if self.dice.one_in(4) { format!("{kind}, {other}") } else { kind.to_owned() };
            self.handler(place, &format!(" {kinds}"));
        }
        let any = *self.dice.pick(&["", "", " SpreadFailed", " Base"]);
        self.handler(place, any);
    }

    fn handler(&mut self, place: Place, kinds: &str) {
        let name = *self.dice.pick(&["e", "a", "xs"]);
        if kinds.is_empty() || self.dice.one_in(2) {
            self.line(place.depth, &format!("except{kinds}:"));
        } else {
            self.line(place.depth, &format!("except{kinds} as {name}:"));
            self.know(name);
        }
        self.block(place.in_handler());
    }

    /// Something that is a number, as a rule.
    fn number(&mut self) -> String {
        let one = self.name();
        match self.dice.below(16) {
            0..4 => self.dice.below(4).to_string(),
            4..9 => one,
            9 => format!("{one} + 1"),
            10 => format!("{} - {one}", self.dice.below(3)),
            11 => format!("10 / {one}"),
            12 => format!("size({})", self.list()),
            13 => format!("{{\"type\": \"A\", \"message\": {one}}}"),
            14 if self.known.iter().any(|known| known == "e") => "e.type".into(),
            14 => "null".into(),
            _ => format!("[{one}, \"t\"]"),
        }
    }

    fn name(&mut self) -> String {
        let index = self.dice.index(self.known.len()).unwrap_or(0);
        self.known[index].clone()
    }

    fn list(&mut self) -> String {
        let one = self.number_name();
        match self.dice.below(10) {
            0..3 => {
                let name = *self.dice.pick(&LISTS);
                self.if_known(name, name.to_owned())
            }
            3 => "[]".into(),
            4 => format!("[{one}]"),
            5 => "range(3)".into(),
            6 => format!("[1, {one}, 3]"),
            7 => self.if_known("xs", format!("xs + [{one}]")),
            8 => "[0, 1].map(x, x + 1)".into(),
            _ => self.name(),
        }
    }

    fn if_known(&self, name: &str, text: String) -> String {
        if self.known.iter().any(|known| known == name) { text } else { "[]".into() }
    }

    fn number_name(&mut self) -> String {
        if self.dice.one_in(2) { self.dice.below(4).to_string() } else { self.name() }
    }

    fn condition(&mut self) -> String {
        let (one, number) = (self.name(), self.dice.below(4));
        match self.dice.below(8) {
            0 => "true".into(),
            1 => "false".into(),
            2 => format!("{one} == {number}"),
            3 => format!("{one} != {number}"),
            4 => format!("{one} < {number}"),
            5 => format!("{one} == {number} || 1 / {number} > 0"),
            6 => format!("{one} != {number} && size(string({one})) > {number}"),
            _ => format!("{one} > {number}"),
        }
    }
}
