//! Lines that are too long, broken at brackets: each element of a broken bracket has a line of its own.
//!
//! A bracket is also broken if there is a comment in it, or if the author ended it with a comma: so a comma says
//! "keep this apart".

use super::{INDENT, WIDTH, said};
use crate::text::layout::{Comment, Kind, Layout, Line};

pub(super) struct Wrap<'w, 'a> {
    layout: &'w Layout<'a>,
    from: usize,
    to: usize,
    spaces: Vec<bool>,
    /// For each token, how wide the line is up to it.
    upto: Vec<usize>,
    /// For each token, how many reasons to break stand before it.
    reasons: Vec<usize>,
    comments: &'w [Comment],
    out: &'w mut String,
    column: usize,
}

impl<'w, 'a> Wrap<'w, 'a> {
    pub(super) fn new(
        layout: &'w Layout<'a>,
        line: &Line,
        spaces: Vec<bool>,
        comments: &'w [Comment],
        out: &'w mut String,
    ) -> Self {
        let (from, to) = (line.from, line.to);
        let (mut upto, mut reasons) = (vec![0], vec![0]);
        let (mut width, mut count, mut comment) = (0, 0, 0);
        for token in from..to {
            let word = layout.word(token).split('\n').next().unwrap_or_default();
            width += word.chars().count() + usize::from(spaces[token - from]);
            while comments.get(comment).is_some_and(|c| c.before <= token + 1) {
                comment += 1;
                count += 1;
            }
            let ends = layout.tokens.get(token + 1).is_some_and(|next| token + 1 < to && next.kind == Kind::Close);
            count += usize::from(ends && layout.word(token) == ",");
            upto.push(width);
            reasons.push(count);
        }
        Self { layout, from, to, spaces, upto, reasons, comments, out, column: 0 }
    }

    pub(super) fn write_line(mut self, indent: usize) {
        self.column = indent;
        self.write(self.from, self.to, indent, 0);
    }

    /// How wide some tokens are on one line.
    fn width(&self, from: usize, to: usize) -> usize {
        self.upto[to - self.from] - self.upto[from - self.from] - usize::from(self.spaces[from - self.from])
    }

    /// Whether some tokens cannot stand on one line. A comment before the first of them is not theirs.
    fn is_forced(&self, from: usize, to: usize) -> bool {
        self.reasons[(to - self.from).saturating_sub(1)] > self.reasons[from - self.from]
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }

    fn token(&mut self, token: usize, first: bool) {
        if self.spaces[token - self.from] && !first {
            self.push(" ");
        }
        self.push(self.layout.word(token));
    }

    fn next_line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    fn flat(&mut self, from: usize, to: usize, first: bool) {
        for token in from..to {
            self.token(token, first && token == from);
        }
    }

    fn mate(&self, token: usize) -> usize {
        self.layout.tokens[token].mate as usize
    }

    /// Writes some tokens, which `tail` characters follow.
    fn write(&mut self, from: usize, to: usize, indent: usize, tail: usize) {
        if from >= to {
            return;
        }
        let fits = self.column + self.width(from, to) + tail <= WIDTH;
        if fits && !self.is_forced(from, to) {
            return self.flat(from, to, true);
        }
        let groups = self.groups(from, to);
        // Comments outside of all brackets have been put above already.
        if fits && !groups.iter().any(|(_, _, forced)| *forced) {
            return self.flat(from, to, true);
        }
        let broken = self.choose(&groups, (from, to), indent, tail);
        let mut token = from;
        let mut chosen = broken.into_iter().peekable();
        while token < to {
            if chosen.next_if_eq(&token).is_some() {
                self.token(token, token == from);
                self.elements(token, indent);
                token = self.mate(token) + 1;
            } else {
                self.token(token, token == from);
                token += 1;
            }
        }
    }

    /// The outermost brackets with something in them, and whether they must be broken.
    fn groups(&self, from: usize, to: usize) -> Vec<(usize, usize, bool)> {
        let mut groups = Vec::new();
        let mut token = from;
        while token < to {
            let close = self.mate(token);
            if close > token {
                let forced = self.is_forced(token, close + 1);
                if forced || close > token + 1 {
                    groups.push((token, close, forced));
                }
                token = close;
            }
            token += 1;
        }
        groups
    }

    /// The brackets to break: those that must be, then the widest, then all.
    fn choose(
        &self,
        groups: &[(usize, usize, bool)],
        (from, to): (usize, usize),
        indent: usize,
        tail: usize,
    ) -> Vec<usize> {
        let forced: Vec<usize> = groups.iter().filter(|(_, _, forced)| *forced).map(|(open, _, _)| *open).collect();
        if !forced.is_empty() && self.fits(&forced, from, to, indent, tail) {
            return forced;
        }
        let widest =
            groups.iter().filter(|(_, _, forced)| !forced).max_by_key(|(open, close, _)| self.width(*open, close + 1));
        let mut some = forced;
        some.extend(widest.map(|(open, _, _)| *open));
        some.sort_unstable();
        if self.fits(&some, from, to, indent, tail) {
            return some;
        }
        groups.iter().map(|(open, _, _)| *open).collect()
    }

    /// Whether what stands around these brackets fits, if they are broken.
    fn fits(&self, broken: &[usize], from: usize, to: usize, indent: usize, tail: usize) -> bool {
        let (mut start, mut column) = (from, self.column);
        for open in broken {
            if column + self.width(start, open + 1) > WIDTH {
                return false;
            }
            (start, column) = (self.mate(*open), indent);
        }
        column + self.width(start, to) + tail <= WIDTH
    }

    /// The inside of a broken bracket, and its end.
    fn elements(&mut self, open: usize, indent: usize) {
        let (close, deeper) = (self.mate(open), indent + INDENT);
        let mut start = open + 1;
        let mut token = start;
        let mut trailed = false;
        while start < close {
            while token < close && self.layout.word(token) != "," {
                token = self.mate(token).max(token) + 1;
            }
            let comma = token < close;
            self.comments_of(start, token, comma, deeper);
            self.next_line(deeper);
            self.write(start, token, deeper, usize::from(comma));
            if comma {
                self.push(",");
            }
            token += usize::from(comma);
            start = token;
            trailed = self.trailing(start);
            if !comma {
                break;
            }
        }
        let rest: Vec<usize> = self.at(close).filter(|n| self.comments[*n].own || !trailed).collect();
        for comment in rest {
            self.own_line(comment, deeper);
        }
        self.next_line(indent);
        self.push(self.layout.word(close));
    }

    /// The comments directly before a token.
    fn at(&self, token: usize) -> impl Iterator<Item = usize> + use<> {
        let from = self.comments.partition_point(|c| c.before < token);
        let to = self.comments.partition_point(|c| c.before <= token);
        from..to
    }

    fn own_line(&mut self, comment: usize, indent: usize) {
        self.next_line(indent);
        let text = said(self.layout, &self.comments[comment]);
        self.push(&text);
    }

    /// The comment that follows an element on its line, if there is one.
    fn trailing(&mut self, next: usize) -> bool {
        let Some(comment) = self.at(next).next().filter(|n| !self.comments[*n].own) else { return false };
        let text = format!("  {}", said(self.layout, &self.comments[comment]));
        self.push(&text);
        true
    }

    /// The comments above an element: those before it, and those within it but in no bracket that will be broken.
    fn comments_of(&mut self, start: usize, end: usize, comma: bool, indent: usize) {
        let first = self.layout.tokens[start - 1].kind == Kind::Open;
        let mut found: Vec<usize> = self.at(start).filter(|n| self.comments[*n].own || first).collect();
        let mut token = start;
        while token < end {
            // Behind a bracket comes what is behind its end.
            token = self.mate(token).max(token) + 1;
            if token < end || (token == end && comma) {
                found.extend(self.at(token));
            }
        }
        for comment in found {
            self.own_line(comment, indent);
        }
    }
}
