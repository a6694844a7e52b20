//! Headers: `flow name(…) [policies]:` and `fn name(…):`, with their parameters.

use super::Parser;
use super::policy::Owner;
use super::slice::Slice;
use crate::input::InputType;
use crate::name::Name;
use crate::suggest::shown;
use crate::text::layout::Kind;
use crate::text::tree::{Expr, Flow, Function, Parameter};

impl Parser<'_, '_, '_> {
    pub(super) fn flow(&mut self) -> Option<Flow> {
        let (name, parameters, rest) = self.header("flow");
        let defaults = self.policies(rest, Owner::Flow);
        let at = self.extent(name);
        let flow = self.flow_name(name);
        let parameters = parameters.map(|slice| self.parameters(slice, true));
        let body = self.block("the flow");
        let super::policy::Brackets { policies, naming, .. } = defaults.unwrap_or_default();
        Some(Flow { name: flow?, at, parameters: parameters?, defaults: policies, naming, body })
    }

    pub(super) fn function(&mut self) -> Option<Function> {
        let (name, parameters, rest) = self.header("fn");
        self.policies(rest, Owner::Function);
        let name = self.named(name, "a function");
        let parameters = parameters.map(|slice| self.parameters(slice, false));
        let body = self.block("the function");
        Some(Function { name: name?, parameters: parameters?, body })
    }

    /// The name, the parameters and what follows them up to the colon. The current line becomes the next one.
    fn header(&mut self, word: &str) -> (Slice, Option<Slice>, Slice) {
        let line = self.line_slice();
        if self.layout.lines[self.at].indent > 0 {
            let first = self.extent(Slice { to: line.from + 1, ..line });
            self.error(first, "bad_indent", format!("`{word}` starts at the beginning of a line"))
                .help(Some("remove the spaces before it".into()));
        }
        let slice = self.until_colon(line, word);
        self.at += 1;
        let open = self.tops(slice).find(|t| self.layout.word(*t) == "(");
        let Some(open) = open else {
            let name = if slice.is_empty() { "name".to_owned() } else { super::brief(self.text(slice)) };
            let help = format!("write `{word} {name}():`");
            let at = self.extent(Slice { from: slice.to, ..slice });
            self.error(at, "missing_parameters", format!("`(` is missing behind the name of the {word}"))
                .help(Some(help));
            return (slice, None, Slice { from: slice.to, to: slice.to });
        };
        let close = self.mate(open);
        (slice.before(open), Some(Slice { from: open + 1, to: close }), slice.after(close))
    }

    fn flow_name(&mut self, slice: Slice) -> Option<Name> {
        self.accept(Name::parse(self.text(slice)), self.extent(slice))
    }

    fn parameters(&mut self, slice: Slice, typed: bool) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        for piece in self.few(slice, "parameters").unwrap_or_default() {
            let Some(parameter) = self.parameter(piece, typed) else { continue };
            let name = &parameter.name;
            if parameters.iter().any(|p| p.name.text == name.text) {
                let message = format!("the parameter `{}` is declared twice", name.text);
                self.error(name.at, "duplicate_name", message).help(Some("remove one of the two".into()));
                continue;
            }
            if let Some(earlier) =
                parameters.last().filter(|p| !typed && p.default.is_some() && parameter.default.is_none())
            {
                let message = format!("`{}` has no default, but `{}` before it has one", name.text, earlier.name.text);
                let help = "put parameters with defaults last";
                self.error(name.at, "missing_default", message).help(Some(help.into()));
            }
            parameters.push(parameter);
        }
        parameters
    }

    /// `name`, `name: type`, `name = default` or `name: type = default`; a text may be held to a pattern,
    /// `name: string(pattern="…")`.
    fn parameter(&mut self, slice: Slice, typed: bool) -> Option<Parameter> {
        if self.is(slice, slice.from, "*") || self.is(slice, slice.from, "**") {
            let message = "there are no parameters that take any number of values";
            self.error(self.extent(slice), "not_supported", message).help(Some("take one list or one map".into()));
            return None;
        }
        let equals = self.find(slice, &["="]);
        let front = equals.map_or(slice, |token| slice.before(token));
        let colon = self.find(front, &[":"]);
        let name = self.named(colon.map_or(front, |token| front.before(token)), "a parameter")?;
        if typed && !name.text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let message =
                format!("`{}` cannot be asked for: the name of a flow's parameter starts with a letter", name.text);
            self.error(name.at, "bad_name", message).help(Some("rename it".into()));
            return None;
        }
        let (kind, pattern) = match colon {
            Some(colon) => self.parameter_type(front.after(colon), typed)?,
            None => (InputType::Any, None),
        };
        let default = match equals {
            Some(equals) => Some(self.expression(slice.after(equals), "the default")?),
            None => None,
        };
        Some(Parameter { name, kind, pattern, default })
    }

    fn parameter_type(&mut self, slice: Slice, typed: bool) -> Option<(InputType, Option<Expr>)> {
        if !typed {
            let message = "the parameters of a function have no types";
            self.error(self.extent(slice), "not_supported", message).help(Some("write the name alone".into()));
            return Some((InputType::Any, None));
        }
        let open =
            self.tops(slice).find(|t| self.layout.word(*t) == "(").filter(|open| self.mate(*open) + 1 == slice.to);
        let kind = self.type_word(open.map_or(slice, |open| slice.before(open)));
        let Some(open) = open else { return Some((kind, None)) };
        let within = Slice { from: open + 1, to: self.mate(open) };
        let given = self.is(within, within.from, "pattern") && self.is(within, within.from + 1, "=");
        if !given || kind != InputType::String {
            let message = "only `string` takes something in parentheses, and that is its pattern";
            let help = "write `name: string(pattern=\"…\")`, or the type alone";
            self.error(self.extent(within), "unknown_key", message).help(Some(help.into()));
            return None;
        }
        Some((kind, Some(self.expression(within.after(within.from + 1), "the pattern")?)))
    }

    fn type_word(&mut self, slice: Slice) -> InputType {
        let (at, word) = (self.extent(slice), self.text(slice));
        let words = InputType::ALL.into_iter().chain([("int", InputType::Integer), ("bool", InputType::Boolean)]);
        if let Some((_, kind)) = words.clone().find(|(known, _)| *known == word) {
            return kind;
        }
        let known: Vec<String> = InputType::ALL.iter().map(|(word, _)| format!("`{word}`")).collect();
        let near = match word {
            "str" => Some("did you mean `string`?".to_owned()),
            "float" => Some("did you mean `number`?".to_owned()),
            "dict" | "object" => Some("did you mean `map`?".to_owned()),
            _ => self.sink.meant(word, words.map(|(word, _)| word)),
        };
        let help = near.unwrap_or_else(|| format!("types are {}", known.join(", ")));
        self.error(at, "unknown_type", format!("there is no type {}", shown(word))).help(Some(help));
        InputType::Any
    }

    /// The slice of a line behind its first word and before the colon that ends it.
    ///
    /// A body on the same line is refused; the block is then known to be there.
    pub(super) fn until_colon(&mut self, line: Slice, word: &str) -> Slice {
        self.inline_body = false;
        let rest = line.after(line.from);
        let last = line.to - 1;
        if last > line.from && self.is(rest, last, ":") {
            return rest.before(last);
        }
        let ternary = self.find(rest, &["?"]).is_some();
        if let Some(colon) = self.find(rest, &[":"]).filter(|_| !ternary) {
            let at = self.extent(rest.after(colon));
            self.error(at, "one_line_block", format!("the body of `{word}` starts on the next line"))
                .help(Some("break the line behind `:` and indent the rest by 4 spaces".into()));
            self.inline_body = true;
            return rest.before(colon);
        }
        let opens = self.kind(rest, last) == Some(Kind::Op);
        let at = self.extent(Slice { from: line.to, to: line.to });
        let help = if opens { "end the line with `:`" } else { "add `:` at the end of the line" };
        self.error(at, "missing_colon", format!("`{word}` opens a block, but its line does not end in `:`"))
            .help(Some(help.into()));
        rest
    }
}
