//! Tokens: words, numbers, texts, actions, brackets and operators.

use super::Scanner;
use crate::suggest::shown;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) struct Token {
    pub(in crate::text) kind: Kind,
    pub(in crate::text) start: u32,
    pub(in crate::text) end: u32,
    /// Of a bracket, its other one; of everything else, itself.
    pub(in crate::text) mate: u32,
}

/// What a piece of the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) enum Kind {
    /// A word: a name, or one of the language.
    Name,
    /// Whatever starts with a digit, durations included.
    Number,
    /// A text in quotes.
    Text,
    /// `@name`.
    Action,
    Open,
    Close,
    /// Everything else.
    Op,
}

/// What the scanner met.
pub(super) enum Step {
    Token,
    Newline,
    End,
}

const PAIRS: [&str; 18] =
    ["==", "!=", "<=", ">=", "&&", "||", "->", "+=", "-=", "*=", "/=", "%=", "**", "//", ":=", "<>", "??", "++"];

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The bracket that closes this one.
pub(super) fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

impl Scanner<'_, '_, '_> {
    /// Takes the next token of the line, or finds its end.
    pub(super) fn step(&mut self) -> Step {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
        let start = self.at;
        let Some(byte) = self.peek() else { return Step::End };
        match byte {
            b'\n' | b'\r' => return Step::Newline,
            b'#' => {
                let own = self.layout.text[..start].trim_end_matches([' ', '\t']).ends_with(['\n', '\r']);
                self.comment(own, 0, false);
            }
            b'"' | b'\'' => self.text(start, false),
            b'@' => self.action(),
            b'(' | b'[' | b'{' => {
                self.take(Kind::Open, 1);
                self.deeper(self.layout.tokens.len() - 1);
            }
            b')' | b']' | b'}' => self.close(),
            b'0'..=b'9' => self.number(),
            b'.' if self.starts_fraction() => self.number(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => self.name(),
            b'\\' => self.stray('\\', Some("brackets join lines: put the whole into `( )`")),
            _ => self.operator(),
        }
        Step::Token
    }

    fn take(&mut self, kind: Kind, bytes: usize) {
        let (start, mate) = (self.at as u32, self.layout.tokens.len() as u32);
        self.at += bytes;
        self.layout.tokens.push(Token { kind, start, end: self.at as u32, mate });
    }

    fn name(&mut self) {
        let rest = &self.layout.text[self.at..];
        let length = rest.len() - rest.trim_start_matches(is_word).len();
        let (word, behind) = rest.split_at(length);
        if behind.starts_with(['"', '\'']) && matches!(word, "r" | "R" | "b" | "B" | "br" | "rb" | "bR" | "Rb" | "BR") {
            let start = self.at;
            self.at += length;
            return self.text(start, word.contains(['r', 'R']));
        }
        if behind.starts_with(['"', '\'']) && matches!(word, "f" | "F" | "fr" | "rf") {
            let at = (self.at, self.at + length);
            let help = "join the pieces: `\"loaded \" + string(count)`";
            self.wrong(at, "not_supported", "there are no f-strings".into(), Some(help.into()));
        }
        self.take(Kind::Name, length);
    }

    /// A point before a digit starts a number unless it stands behind a value, where it is a step into it.
    fn starts_fraction(&self) -> bool {
        let digit = self.layout.text.as_bytes().get(self.at + 1).is_some_and(u8::is_ascii_digit);
        let value = self.layout.tokens.last().is_some_and(|t| !matches!(t.kind, Kind::Op | Kind::Open));
        digit && !(value && self.layout.tokens.last().is_some_and(|t| t.end as usize == self.at))
    }

    fn number(&mut self) {
        let bytes = &self.layout.text.as_bytes()[self.at..];
        let hex = bytes.len() > 1 && bytes[0] == b'0' && matches!(bytes[1], b'x' | b'X');
        let mut length = 0;
        while let Some(byte) = bytes.get(length) {
            let digit_follows = bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
            let exponent = !hex && length > 0 && matches!(bytes[length - 1], b'e' | b'E');
            let goes_on = match byte {
                b'.' => digit_follows,
                b'+' | b'-' => exponent && digit_follows && length > 1 && bytes[length - 2].is_ascii_digit(),
                b => b.is_ascii_alphanumeric() || *b == b'_',
            };
            if !goes_on {
                break;
            }
            length += 1;
        }
        self.take(Kind::Number, length);
    }

    /// `@name`, with what names may have in them; the dot or slash at the end of it is not part of it.
    fn action(&mut self) {
        let rest = &self.layout.text[self.at + 1..];
        let length = rest.len() - rest.trim_start_matches(|c: char| is_word(c) || "-./".contains(c)).len();
        let length = rest[..length].trim_end_matches(['.', '/', '-']).len();
        self.take(Kind::Action, length + 1);
    }

    fn close(&mut self) {
        let here = self.layout.tokens.len();
        self.take(Kind::Close, 1);
        let (at, found) = ((self.at - 1, self.at), self.layout.word(here));
        match self.open.pop() {
            Some(open) => {
                let opened = self.layout.word(open);
                self.layout.tokens[open].mate = here as u32;
                self.layout.tokens[here].mate = open as u32;
                let expected = closing(opened);
                if expected != found && !self.bad {
                    let message = format!("`{found}` stands where `{opened}` must be closed");
                    self.wrong(at, "bad_bracket", message, Some(format!("write `{expected}`")));
                }
            }
            None if self.bad => {}
            None => {
                let message = format!("`{found}` closes nothing");
                self.wrong(at, "bad_bracket", message, Some("remove it, or open the bracket before".into()));
            }
        }
    }

    /// A text, from its prefix at `start`; the scanner stands at its quote.
    fn text(&mut self, start: usize, raw: bool) {
        let rest = &self.layout.text[self.at..];
        let quote = &rest[..1];
        let triple = if quote == "'" { "'''" } else { "\"\"\"" };
        let long = rest.starts_with(triple);
        let opened = if long { 3 } else { 1 };
        let end = length(&rest[opened..], quote, long, raw);
        let kept = self.at;
        self.at = start;
        match end {
            Some(length) => self.take(Kind::Text, kept - start + opened + length + opened),
            None => {
                // Nobody knows where a long one was meant to end, so the rest of the file is taken for it.
                let line = rest.find(['\n', '\r']).filter(|_| !long);
                let length = line.unwrap_or(rest.len());
                self.take(Kind::Text, kept - start + length);
                let marks = if long { triple } else { quote };
                let help = match long {
                    true => format!("add {marks} where it ends"),
                    false => format!("add {marks}; a text of several lines stands between {triple}"),
                };
                let at = (start, kept + opened);
                self.wrong(at, "open_text", format!("the text is never closed: {marks} is missing"), Some(help));
            }
        }
    }

    fn operator(&mut self) {
        let rest = &self.layout.text[self.at..];
        // Most operators are followed by no sign at all.
        let signs = rest.as_bytes().get(1).is_some_and(u8::is_ascii_punctuation);
        if let Some(pair) = PAIRS.iter().filter(|_| signs).find(|pair| rest.starts_with(**pair)) {
            return self.take(Kind::Op, pair.len());
        }
        self.semicolon |= rest.starts_with(';');
        let Some(c) = rest.chars().next() else { return };
        if matches!(c, '=' | '<' | '>' | '+' | '-' | '*' | '/' | '%' | '!' | '?' | ':' | ',' | '.' | ';')
            || matches!(c, '&' | '|' | '^' | '~' | '$' | '`')
        {
            return self.take(Kind::Op, 1);
        }
        let help = match c {
            '“' | '”' | '„' => Some("write the quote as `\"`"),
            '‘' | '’' => Some("write the quote as `'`"),
            '–' | '—' | '−' => Some("write the minus as `-`"),
            '\u{a0}' => Some("replace it by a space"),
            c if c.is_alphabetic() => Some("names have the letters a to z, digits and `_`"),
            _ => None,
        };
        self.stray(c, help);
    }

    fn stray(&mut self, c: char, help: Option<&str>) {
        let at = (self.at, self.at + c.len_utf8());
        if !self.bad {
            let message = format!("{} has no meaning here", shown(c.encode_utf8(&mut [0; 4])));
            self.wrong(at, "bad_character", message, help.map(str::to_owned));
        }
        self.at = at.1;
        let rest = &self.layout.text.as_bytes()[self.at..];
        if c == '\\' && matches!(rest.first(), Some(b'\n' | b'\r')) {
            // Meant to join the lines: the next one is no statement.
            self.newline();
        }
    }
}

/// How long a text is, up to its closing quote; `None` if there is none.
fn length(rest: &str, quote: &str, long: bool, raw: bool) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mark = quote.as_bytes()[0];
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if !raw && !matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => at += 1,
            b'\n' | b'\r' if !long => return None,
            b if *b == mark && (!long || bytes[at..].starts_with(&[mark; 3])) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
