//! Programs made up from a seed: a text with any layout, and the tree it must become.

/// Expressions as tokens with a blank between them, and what their tree prints as.
const EXPRESSIONS: [(&str, &str); 14] = [
    ("1", "1"),
    ("a", "a"),
    ("a . b", "a.b"),
    ("a + 1", "a + 1"),
    ("- a", "-a"),
    ("! a && b", "!a && b"),
    ("size ( a ) > 0", "size(a) > 0"),
    ("[ 1 , a ]", "[1, a]"),
    ("{ \"k\" : a , \"l\" : 2 }", "{\"k\": a, \"l\": 2}"),
    ("( a ? 1 : b )", "a ? 1 : b"),
    ("a . filter ( x , x in [ 1 ] )", "a.filter(x, x in [1])"),
    ("a [ 0 ]", "a[0]"),
    ("( a + 1 ) * 2", "(a + 1) * 2"),
    ("\"# no comment ( [\"", "\"# no comment ( [\""),
];

const POLICIES: [(&str, &str); 6] = [
    ("", ""),
    ("[ retry : 3 , backoff : 5s ]", " retry=3 backoff=5s"),
    ("[ timeout : 2m ]", " timeout=2m"),
    ("[ publish : [ \"x\" ] ]", " publish=‹[\"x\"]›"),
    ("[ A , b . C -> retry : 5 ]", " on A, b.C: retry=5"),
    ("[ retry : 2 ] [ A -> cap : 1h ] [ queue_timeout : 1m ]", " retry=2 on A: cap=1h queue_timeout=1m"),
];

const SIMPLE: [(&str, &str); 7] = [
    ("pass", "pass"),
    ("sleep 1h", "sleep for 1h"),
    ("raise A ( \"x\" )", "raise A(‹\"x\"›)"),
    ("return", "return nothing"),
    (
        "wait approval ( from = [ a , \"b\" ] , count = 1 )",
        r#"wait {"wait":{"approval":{"from":["a","b"],"count":1}}}"#,
    ),
    ("total += a - 1", "total = ‹total + (a - 1)›"),
    ("leaf ( 1 , y = a )", "do leaf(‹1›, y=‹a›)"),
];

pub struct Generator {
    state: u64,
    text: String,
    /// How many spaces each open block is indented further.
    indents: Vec<usize>,
    loops: usize,
}

impl Generator {
    /// A program's text and the dump of its tree.
    pub fn program(seed: u64) -> (String, String) {
        let mut generator = Self { state: seed, text: String::new(), indents: Vec::new(), loops: 0 };
        generator.filler();
        generator.line("flow f ( a , b : int = - 1 , c = [ 1 ] ) [ retry : 2 ] :");
        let body = generator.block(3);
        generator.line("fn helper ( x ) :");
        let helper = generator.block(2);
        generator.line("fn leaf ( x , y = 2 ) :");
        generator.indents.push(1);
        generator.line("pass");
        let header = "flow f(a: any, b: integer = ‹-1›, c: any = ‹[1]›) retry=2";
        (
            generator.text,
            format!("{header} {body}\nfn helper(x: any) {helper}\nfn leaf(x: any, y: any = ‹2›) {{ pass }}"),
        )
    }

    fn below(&mut self, most: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % most as u64) as usize
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Empty lines and comments, anywhere.
    fn filler(&mut self) {
        for _ in 0..self.below(3).saturating_sub(1) {
            let line = self.pick(&["\n", "# why\n", "   #x\n", "        # deep\n", "\n\n", "\t\n"]);
            self.text += line;
        }
    }

    /// A line of tokens with a blank between them, with any other space instead.
    fn line(&mut self, tokens: &str) {
        let indent = self.indents.iter().sum();
        self.text += &" ".repeat(indent);
        let mut depth = 0;
        let mut quoted = false;
        let pieces: Vec<&str> = tokens.split(' ').collect();
        for (n, token) in pieces.iter().enumerate() {
            self.text += token;
            quoted ^= token.matches('"').count() % 2 == 1;
            depth += usize::from(!quoted && matches!(*token, "(" | "[" | "{"));
            depth -= usize::from(!quoted && matches!(*token, ")" | "]" | "}"));
            let Some(next) = pieces.get(n + 1) else { break };
            let word = |text: &str, last: bool| {
                let c = if last { text.chars().next_back() } else { text.chars().next() };
                c.is_some_and(|c| c.is_alphanumeric() || c == '_')
            };
            let needed = quoted || (word(token, true) && (word(next, false) || *next == "\"" || next.starts_with('"')));
            let sign = |text: &str| !text.is_empty() && text.chars().all(|c| "+-*/<>=!&|?:.".contains(c));
            let glued = (sign(token) && sign(next)) || (*token == "." || *next == ".");
            let space = match (self.below(8), depth > 0 && !quoted) {
                _ if quoted => " ",
                _ if glued && !(sign(token) && sign(next)) => "",
                (0, true) => "\n",
                (1, true) => "  # inner\n  ",
                (2, true) => "\n # own\n\n",
                (3 | 4, _) if !needed && !glued => "",
                (5, _) => "   ",
                _ => " ",
            };
            self.text += space;
        }
        let end = self.pick(&["\n", "\n", "\n", "   \n", "  # behind\n", "#close\n"]);
        self.text += end;
        self.filler();
    }

    fn block(&mut self, depth: usize) -> String {
        let indent = self.pick(&[1, 2, 4, 7]);
        self.indents.push(indent);
        let mut statements = Vec::new();
        for _ in 0..=self.below(3) {
            statements.push(self.statement(depth));
        }
        self.indents.pop();
        format!("{{ {} }}", statements.join("; "))
    }

    fn statement(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 4 } else { 10 }) {
            0 => {
                let (text, dump) = self.pick(&SIMPLE);
                self.line(text);
                dump.to_owned()
            }
            1 => {
                let (text, dump) = self.pick(&EXPRESSIONS);
                self.line(&format!("x , y = {text}"));
                format!("x, y = ‹{dump}›")
            }
            2 => {
                let ((text, dump), call) = (self.pick(&EXPRESSIONS), self.call());
                self.line(&format!("rows = spread {text} : item -> {} [ tolerate : 2 ]", call.0));
                format!("rows = spread ‹{dump}› as item -> {} tolerate=2 fail_fast=false", call.1)
            }
            3 => {
                let call = self.call();
                self.line(&format!("return {}", call.0));
                format!("return {}", call.1)
            }
            4 => self.parallel(),
            5 | 6 => self.conditional(depth),
            7 => self.looped(depth),
            _ => self.guarded(depth),
        }
    }

    fn call(&mut self) -> (String, String) {
        let (first, second) = (self.pick(&EXPRESSIONS), self.pick(&EXPRESSIONS));
        let policy = self.pick(&POLICIES);
        let comma = self.pick(&["", " ,"]);
        let text = format!("@ci.load ( a = {} , b = {}{comma} ) {}", first.0, second.0, policy.0);
        (text.trim_end().to_owned(), format!("@ci.load(a=‹{}›, b=‹{}›){}", first.1, second.1, policy.1))
    }

    fn parallel(&mut self) -> String {
        self.line("left , right = parallel [ fail_fast ] :");
        self.indents.push(3);
        let calls = [self.call(), self.call()];
        calls.iter().for_each(|(text, _)| self.line(text));
        self.indents.pop();
        format!("left, right = parallel {{ {}; {} }} tolerate=0 fail_fast=true", calls[0].1, calls[1].1)
    }

    fn conditional(&mut self, depth: usize) -> String {
        let (first, second) = (self.pick(&EXPRESSIONS), self.pick(&EXPRESSIONS));
        self.line(&format!("if {} :", first.0));
        let mut dump = format!("if ‹{}› {}", first.1, self.block(depth - 1));
        if self.below(2) == 0 {
            self.line(&format!("elif {} :", second.0));
            dump += &format!(" if ‹{}› {}", second.1, self.block(depth - 1));
        }
        if self.below(2) == 0 {
            self.line("else :");
            dump += &format!(" else {}", self.block(depth - 1));
        }
        dump
    }

    fn looped(&mut self, depth: usize) -> String {
        let (text, dump) = self.pick(&EXPRESSIONS);
        self.loops += 1;
        let (line, head) = match self.below(2) {
            0 => (format!("for x in {text} :"), format!("for x in ‹{dump}›")),
            _ => (format!("while {text} :"), format!("while ‹{dump}›")),
        };
        self.line(&line);
        let body = self.block(depth - 1);
        self.loops -= 1;
        format!("{head} {body}")
    }

    fn guarded(&mut self, depth: usize) -> String {
        self.line("try :");
        let body = self.block(depth - 1);
        self.line("except A , b . C as e :");
        let first = self.block(depth - 1);
        self.line("except :");
        format!("try {body} except [A, b.C] as e {first} except [] {}", self.block(depth - 1))
    }
}
