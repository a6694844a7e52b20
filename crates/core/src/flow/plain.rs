//! The plain part of YAML, read quickly: block maps and lists, `{ }` and `[ ]`, and scalars that stand on one line.
//!
//! This is what most flows are written in, and all of it that can be dense: the library spends a thousand instructions
//! on a byte of `[1,1,1]`. Whatever is not plain is left to the library, and so is everything that is wrong, so there
//! is one reader that knows all of YAML and one that says what is wrong with a file. Where this one reads, it reads
//! exactly what the library would, places included; a test compares the two on texts put together by chance.

use super::source::Span;
use super::tree::{Entry, Kind, Node, ScalarStyle, repeat};
use std::borrow::Cow;

/// Nested deeper than this is left to the library, which knows the limit.
const DEEPEST: usize = 48;
/// The longest key; the library has a limit too.
const KEY: usize = 200;

/// The document of a text, if it is plain.
pub(super) fn read(text: &str) -> Option<Node<'_>> {
    let mut reader = Reader { text, at: 0, line: 1, counted: 0, col: 1, block: 0, depth: 0 };
    let indent = reader.next_line()?;
    if reader.at_mark(indent) {
        return None;
    }
    let root = match reader.peek() {
        b'{' if indent == 0 => {
            let root = reader.flow()?;
            reader.rest_of_line()?;
            root
        }
        _ => reader.block(indent)?,
    };
    reader.next_line().is_none().then_some(root).filter(|_| reader.at == text.len())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Up to where columns were counted, and the column there.
    counted: usize,
    col: u32,
    /// How far the innermost block is indented.
    block: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// The byte at hand; at the end of the text, that of a line.
    #[inline]
    fn peek(&self) -> u8 {
        self.ahead(0)
    }

    #[inline]
    fn ahead(&self, bytes: usize) -> u8 {
        self.text.as_bytes().get(self.at + bytes).copied().unwrap_or(b'\n')
    }

    /// The column of a place in this line, which is not before the last that was asked for.
    #[inline]
    fn column(&mut self, at: usize) -> u32 {
        let passed = &self.text.as_bytes()[self.counted..at];
        self.col += passed.iter().filter(|byte| (**byte as i8) >= -0x40).count() as u32;
        self.counted = at;
        self.col
    }

    fn span(&mut self, from: usize, to: usize) -> Span {
        let (line, col) = (self.line, self.column(from));
        Span { line, col, end_line: line, end_col: self.column(to) }
    }

    /// Where the token at hand begins.
    fn start(&mut self) -> Span {
        Span::at(self.line, self.column(self.at), 1)
    }

    fn newline(&mut self) {
        self.at += 1;
        self.line += 1;
        (self.counted, self.col) = (self.at, 1);
    }

    fn spaces(&mut self) -> usize {
        let from = self.at;
        while self.peek() == b' ' {
            self.at += 1;
        }
        self.at - from
    }

    /// Goes to the next line that says something, and gives its indentation; nothing at the end.
    fn next_line(&mut self) -> Option<usize> {
        loop {
            let indent = self.spaces();
            match self.peek() {
                _ if self.at >= self.text.len() => return None,
                b'\n' => self.newline(),
                // Not at the end of the text, which whoever reads the whole of it finds out.
                b'#' if !self.comment() => return None,
                b'#' => {}
                _ => return Some(indent),
            }
        }
    }

    /// Passes a comment up to the end of its line, unless something in it may mean something.
    fn comment(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let end = rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len());
        let whole = rest.get(end).is_none_or(|byte| *byte == b'\n');
        self.at += if whole { end } else { 0 };
        whole
    }

    /// Passes the end of a line behind a value.
    fn rest_of_line(&mut self) -> Option<()> {
        let spaces = self.spaces();
        if self.peek() == b'#' && spaces > 0 && !self.comment() {
            return None;
        }
        (self.peek() == b'\n').then_some(())?;
        if self.at < self.text.len() {
            self.newline();
        }
        Some(())
    }

    /// A map or a list in a block, from its first line on. Behind it the reader stands at the next line that says
    /// something.
    fn block(&mut self, indent: usize) -> Option<Node<'a>> {
        self.depth += 1;
        let around = std::mem::replace(&mut self.block, indent);
        let node = match (self.depth <= DEEPEST, self.peek(), self.ahead(1)) {
            (false, ..) => None,
            (_, b'-', b' ') => self.items(indent),
            _ => {
                let start = self.start();
                let (key, at) = self.key()?;
                self.entries(indent, start, key, at)
            }
        };
        self.depth -= 1;
        self.block = around;
        node
    }

    fn items(&mut self, indent: usize) -> Option<Node<'a>> {
        let span = self.start();
        let mut items = Vec::new();
        loop {
            if !(self.peek() == b'-' && self.ahead(1) == b' ') {
                return None;
            }
            self.at += 1;
            let inner = indent + 1 + self.spaces();
            let start = self.start();
            if self.is_key() {
                let (key, at) = self.key()?;
                self.depth += 1;
                let around = std::mem::replace(&mut self.block, inner);
                items.push(self.entries(inner, start, key, at).filter(|_| self.depth <= DEEPEST)?);
                self.depth -= 1;
                self.block = around;
            } else {
                items.push(self.value()?);
                self.rest_of_line()?;
            }
            match self.next_indent()? {
                next if next == Some(indent) => {}
                next if next < Some(indent) => return Some(Node { span, kind: Kind::List(items) }),
                _ => return None,
            }
        }
    }

    /// How far the line at hand is indented; it is the next that says something. `Some(None)` at the end, and at a
    /// line that may end the document.
    #[expect(clippy::option_option, reason = "the outer one says whether this is plain")]
    fn next_indent(&mut self) -> Option<Option<usize>> {
        if self.counted != self.at || self.col != 1 {
            // Within a line: a block inside of this one has gone to its first word.
            return Some((self.at < self.text.len()).then(|| (self.column(self.at) - 1) as usize));
        }
        let next = self.next_line();
        if next.is_some_and(|indent| self.at_mark(indent)) { None } else { Some(next) }
    }

    /// Whether the line at hand may begin or end a document.
    fn at_mark(&self, indent: usize) -> bool {
        indent == 0 && matches!(&self.text.as_bytes()[self.at..], [b'-', b'-', ..] | [b'.', b'.', ..])
    }

    /// The entries of a map behind its first key.
    fn entries(&mut self, indent: usize, start: Span, key: Cow<'a, str>, at: Span) -> Option<Node<'a>> {
        let (mut key, mut at) = (key, at);
        let mut entries = Vec::new();
        loop {
            self.spaces();
            let value = if matches!(self.peek(), b'\n' | b'#') {
                self.rest_of_line()?;
                let below = self.next_indent()??;
                if below <= indent {
                    return None;
                }
                self.block(below)?
            } else {
                let value = self.value()?;
                self.rest_of_line()?;
                value
            };
            entries.push(Entry { key, at, value });
            match self.next_indent()? {
                next if next == Some(indent) => {}
                next if next < Some(indent) => return map(start, entries),
                _ => return None,
            }
            (key, at) = self.key()?;
            if entries.last().is_some_and(|last: &Entry<'_>| last.key == key) {
                // The library tells of each: the sooner it is asked the better.
                return None;
            }
        }
    }

    /// Whether what stands here is the key of a block.
    fn is_key(&self) -> bool {
        let line = &self.text.as_bytes()[self.at..];
        let end = line.iter().take(KEY + 8).position(|byte| *byte == b'\n').unwrap_or(line.len().min(KEY + 8));
        !matches!(line.first(), Some(b'[' | b'{')) && line[..end].windows(2).any(|two| two == b": ")
            || line[..end].ends_with(b":")
    }

    /// A key of a block, and the colon behind it.
    fn key(&mut self) -> Option<(Cow<'a, str>, Span)> {
        let node = self.scalar(false)?;
        if self.peek() != b':' || !matches!(self.ahead(1), b' ' | b'\n') {
            return None;
        }
        self.at += 1;
        key_of(node)
    }

    /// A value that begins in this line.
    fn value(&mut self) -> Option<Node<'a>> {
        let value = match self.peek() {
            b'[' | b'{' => self.flow(),
            _ => self.scalar(false),
        };
        // A colon would make a key of it.
        value.filter(|_| matches!(self.peek(), b' ' | b'\n'))
    }

    /// What stands between brackets.
    fn flow(&mut self) -> Option<Node<'a>> {
        self.depth += 1;
        let span = self.start();
        let is_map = self.peek() == b'{';
        self.at += 1;
        let node = match self.depth <= DEEPEST {
            false => None,
            true if is_map => self.flow_entries(span),
            true => self.flow_items(span),
        };
        self.depth -= 1;
        node
    }

    fn flow_items(&mut self, span: Span) -> Option<Node<'a>> {
        let mut items = Vec::new();
        loop {
            self.flow_space()?;
            if self.peek() == b']' {
                self.at += 1;
                return Some(Node { span, kind: Kind::List(items) });
            }
            items.push(self.flow_value()?);
            self.flow_space()?;
            match self.peek() {
                b',' => self.at += 1,
                b']' => {}
                _ => return None,
            }
        }
    }

    fn flow_entries(&mut self, span: Span) -> Option<Node<'a>> {
        let mut entries = Vec::new();
        loop {
            self.flow_space()?;
            if self.peek() == b'}' {
                self.at += 1;
                return map(span, entries);
            }
            let quoted = matches!(self.peek(), b'"' | b'\'');
            let (key, at) = key_of(self.scalar(true)?)?;
            // Behind quotes a colon needs no blank, as in JSON.
            if self.peek() != b':' || !(quoted || self.ahead(1) == b' ') {
                return None;
            }
            self.at += 1;
            self.flow_space()?;
            let value = self.flow_value()?;
            entries.push(Entry { key, at, value });
            self.flow_space()?;
            match self.peek() {
                b',' => self.at += 1,
                b'}' => {}
                _ => return None,
            }
        }
    }

    fn flow_value(&mut self) -> Option<Node<'a>> {
        match self.peek() {
            b'[' | b'{' => self.flow(),
            _ => self.scalar(true),
        }
    }

    /// Blanks and ends of lines between brackets; what goes on must be indented further than the block around it.
    fn flow_space(&mut self) -> Option<()> {
        self.spaces();
        while self.peek() == b'\n' {
            if self.at >= self.text.len() {
                return None;
            }
            self.newline();
            if self.spaces() <= self.block && self.peek() != b'\n' {
                return None;
            }
        }
        Some(())
    }

    /// A scalar on one line. Behind it stands what is not part of it, blanks first.
    fn scalar(&mut self, flow: bool) -> Option<Node<'a>> {
        match self.peek() {
            quote @ (b'"' | b'\'') => self.quoted(quote),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b'$' | b'(' | b'+' | b'~' => self.word(flow),
            b'-' if self.ahead(1).is_ascii_alphanumeric() => self.word(flow),
            _ => None,
        }
    }

    fn quoted(&mut self, quote: u8) -> Option<Node<'a>> {
        let from = self.at;
        let rest = &self.text.as_bytes()[from + 1..];
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b'\n') || !is_plain(*byte))?;
        // The library has its own idea of where quotes with blanks behind them end.
        if rest[end] != quote || matches!(rest.get(end + 1), Some(b'"' | b'\'' | b' ')) {
            return None;
        }
        self.at = from + end + 2;
        let style = if quote == b'"' { ScalarStyle::DoubleQuoted } else { ScalarStyle::SingleQuoted };
        let text = Cow::Borrowed(&self.text[from + 1..from + 1 + end]);
        Some(Node { span: self.span(from, self.at), kind: Kind::Scalar(text, style) })
    }

    fn word(&mut self, flow: bool) -> Option<Node<'a>> {
        let from = self.at;
        let mut last = from;
        loop {
            match self.peek() {
                b'\n' => break,
                b' ' if self.ahead(1) == b'#' => break,
                b' ' => {
                    self.at += 1;
                    continue;
                }
                b':' if matches!(self.ahead(1), b' ' | b'\n') => break,
                b':' | b'{' | b'[' | b'#' if flow => return None,
                b',' | b'}' | b']' if flow => break,
                byte if !is_plain(byte) => return None,
                _ => {}
            }
            self.at += 1;
            last = self.at;
        }
        // Between brackets the next line could belong to it.
        if flow && self.peek() == b'\n' {
            return None;
        }
        self.at = last;
        let text = Cow::Borrowed(&self.text[from..last]);
        Some(Node { span: self.span(from, last), kind: Kind::Scalar(text, ScalarStyle::Plain) })
    }
}

/// Bytes of characters that mean nothing to YAML: no tabs, no other ends of lines, no marks of order.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && !matches!(byte, 0x7f | 0xc2 | 0xe2 | 0xef)
}

fn key_of(node: Node<'_>) -> Option<(Cow<'_, str>, Span)> {
    match node.kind {
        Kind::Scalar(text, style) if text.len() <= KEY && (!text.is_empty() || style != ScalarStyle::Plain) => {
            Some((text, node.span))
        }
        _ => None,
    }
}

/// A map, unless a key comes again.
fn map<'a>(span: Span, entries: Vec<Entry<'a>>) -> Option<Node<'a>> {
    (!repeat(&entries)).then_some(Node { span, kind: Kind::Map(entries) })
}

#[cfg(test)]
mod tests;
