//! Tokens, one at a time: what follows an expression in a larger text is not looked at.

use super::{Fault, Hyphens, Span};
use crate::limits;
use crate::suggest::shown;

/// What a token is; what it says stands in the text at its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Ident,
    Int,
    Uint,
    Double,
    /// A text; its prefix, quotes and escapes are read by `chars`.
    Text,
    Bytes,
    Sign(Sign),
}

/// An operator or a bracket: its one or two bytes. The parser asks about signs more often than about anything else.
pub(super) type Sign = [u8; 2];

/// The sign that is written so.
pub(super) const fn sign(text: &'static str) -> Sign {
    match text.as_bytes() {
        [one] => [*one, 0],
        [one, two] => [*one, *two],
        _ => panic!("a sign has one or two bytes"),
    }
}

pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    at: usize,
    from: usize,
    /// How many bytes the expression may have.
    most: usize,
    hyphens: Hyphens,
    /// 1 after `tasks` or `inputs` at the start of a reference, 2 after the dot that follows.
    armed: u8,
    after_dot: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, from: usize, hyphens: Hyphens) -> Self {
        Self { text, at: from, from, most: limits::EXPR_BYTES, hyphens, armed: 0, after_dot: false }
    }

    /// The same for a stored expression, which was within the limits when it was made.
    pub(super) fn stored(text: &'t str) -> Self {
        Self { most: text.len(), ..Self::new(text, 0, Hyphens::InNames) }
    }

    /// How many bytes are left to read, of this expression or of what it stands in.
    pub(super) fn left(&self) -> usize {
        self.text.len() - self.at
    }

    /// Where it stands.
    pub(super) fn here(&self) -> Span {
        Span::new(self.at, self.at)
    }

    /// The next token, and where it stands.
    pub(super) fn next(&mut self) -> Result<(Token, Span), Fault> {
        self.blanks();
        let from = self.at;
        if from - self.from > self.most {
            let message = format!("the expression is longer than the {} bytes allowed", limits::EXPR_BYTES);
            return Err(Fault::new(Span::new(self.from, self.from), "too_large", message)
                .help("compute it in a task, or name parts of it with `let:`"));
        }
        let rest = &self.text[from..];
        let token = match rest.as_bytes() {
            [] => Token::End,
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number()?,
            [b'"' | b'\'', ..] => self.quoted(0)?,
            [b'r' | b'R' | b'b' | b'B', b'"' | b'\'', ..] => self.quoted(1)?,
            [b'r' | b'R', b'b' | b'B', b'"' | b'\'', ..] | [b'b' | b'B', b'r' | b'R', b'"' | b'\'', ..] => {
                self.quoted(2)?
            }
            [b'_' | b'a'..=b'z' | b'A'..=b'Z', ..] => self.ident(),
            _ => self.sign()?,
        };
        let span = Span::new(from, self.at);
        self.arm(token, span);
        Ok((token, span))
    }

    /// Remembers whether a name with hyphens may come next.
    #[inline]
    fn arm(&mut self, token: Token, span: Span) {
        if self.hyphens == Hyphens::Refused {
            return;
        }
        let root = token == Token::Ident && !self.after_dot && matches!(span.of(self.text), "tasks" | "inputs");
        self.after_dot = token == Token::Sign(sign("."));
        self.armed = match (root, self.armed, self.after_dot) {
            (true, ..) => 1,
            (_, 1, true) => 2,
            _ => 0,
        };
    }

    /// Blanks, and comments up to the end of their line.
    fn blanks(&mut self) {
        loop {
            // Most tokens stand right behind the one before.
            if !matches!(self.text.as_bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/')) {
                return;
            }
            let rest = &self.text[self.at..];
            let comment = rest.starts_with("//");
            let len = match comment {
                true => rest.find('\n').unwrap_or(rest.len()),
                false => rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)).count(),
            };
            self.at += len;
            if len == 0 {
                return;
            }
        }
    }

    fn ident(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let hyphens = self.hyphens == Hyphens::InNames && self.armed == 2;
        while word(self.at) || (hyphens && bytes.get(self.at) == Some(&b'-') && word(self.at + 1)) {
            self.at += 1;
        }
        Token::Ident
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while self.text.as_bytes().get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at - from
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let from = self.at;
        let bytes = self.text.as_bytes();
        let mut token = Token::Int;
        if matches!(&bytes[from..], [b'0', b'x' | b'X', ..]) {
            self.at += 2;
            while bytes.get(self.at).is_some_and(u8::is_ascii_hexdigit) {
                self.at += 1;
            }
        } else {
            self.digits();
            if let [b'.', b'0'..=b'9', ..] = &bytes[self.at..] {
                self.at += 1;
                self.digits();
                token = Token::Double;
            }
            if let [b'e' | b'E', b'0'..=b'9', ..] | [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] = &bytes[self.at..] {
                self.at += 2;
                self.digits();
                token = Token::Double;
            }
        }
        if token == Token::Int && matches!(bytes.get(self.at), Some(b'u' | b'U')) {
            self.at += 1;
            token = Token::Uint;
        }
        if bytes.get(self.at).is_none_or(|b| b.is_ascii() && !b.is_ascii_alphanumeric() && *b != b'_') {
            return Ok(token);
        }
        let rest = &self.text[self.at..];
        let more = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        if more > 0 {
            let span = Span::new(from, self.at + more);
            let message = format!("{} is no number", shown(span.of(self.text)));
            return Err(Fault::new(span, "bad_expression", message)
                .help("a name starts with a letter, a text stands in quotes"));
        }
        Ok(token)
    }

    /// A text or bytes after a prefix of so many letters; only its end is looked for.
    fn quoted(&mut self, prefix: usize) -> Result<Token, Fault> {
        let from = self.at;
        let letters = &self.text[from..from + prefix];
        let raw = letters.contains(['r', 'R']);
        let rest = &self.text[from + prefix..];
        let triple = rest.starts_with("\"\"\"") || rest.starts_with("'''");
        let quote = &rest[..if triple { 3 } else { 1 }];
        let bytes = self.text.as_bytes();
        let mut at = from + prefix + quote.len();
        let most = self.from.saturating_add(self.most + 8).min(bytes.len());
        loop {
            match bytes.get(at).filter(|_| at < most) {
                Some(b'\\') if !raw => at += 2,
                Some(b'\n' | b'\r') if !triple => break,
                Some(_) if bytes[at..].starts_with(quote.as_bytes()) => {
                    self.at = at + quote.len();
                    return Ok(if letters.contains(['b', 'B']) { Token::Bytes } else { Token::Text });
                }
                Some(_) => at += 1,
                None => break,
            }
        }
        let span = Span::new(from, from + prefix + quote.len());
        let message = format!("the text that starts here is not closed with {}", shown(quote));
        let help = if triple { "add the closing quotes" } else { "close it in the same line, or use three quotes" };
        Err(Fault::new(span, "bad_expression", message).help(help))
    }

    fn sign(&mut self) -> Result<Token, Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        let found = match rest {
            [b'|', b'|', ..] | [b'&', b'&', ..] | [b'=' | b'!' | b'<' | b'>', b'=', ..] => [rest[0], rest[1]],
            [one, ..] if b"<>+-*/%!?:.,()[]{}".contains(one) => [*one, 0],
            _ => return Err(self.no_sign()),
        };
        self.at += if found[1] == 0 { 1 } else { 2 };
        Ok(Token::Sign(found))
    }

    fn no_sign(&self) -> Fault {
        let c = self.text[self.at..].chars().next().unwrap_or(' ');
        let span = Span::new(self.at, self.at + c.len_utf8());
        let double = match c {
            '=' => "==",
            '&' => "&&",
            '|' => "||",
            _ => {
                let message = format!("{} cannot stand in an expression", shown(c.encode_utf8(&mut [0; 4])));
                let help = if c == '`' {
                    "write a key that is no name in brackets: `x[\"odd key\"]`"
                } else {
                    "texts stand in quotes"
                };
                return Fault::new(span, "bad_expression", message).help(help);
            }
        };
        Fault::new(span, "bad_expression", format!("`{c}` means nothing here")).help(format!("write `{double}`"))
    }
}
