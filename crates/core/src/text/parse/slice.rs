//! Slices: some tokens of one line, and looking through them without entering brackets.

use super::Parser;
use crate::text::layout::Kind;

/// Tokens from one up to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) struct Slice {
    pub(in crate::text) from: usize,
    pub(in crate::text) to: usize,
}

impl Slice {
    pub(in crate::text) fn is_empty(self) -> bool {
        self.from >= self.to
    }

    pub(in crate::text) fn len(self) -> usize {
        self.to.saturating_sub(self.from)
    }

    pub(in crate::text) fn after(self, token: usize) -> Self {
        Self { from: token + 1, ..self }
    }

    pub(in crate::text) fn before(self, token: usize) -> Self {
        Self { to: token, ..self }
    }
}

impl<'p, 'a> Parser<'p, 'a, '_> {
    /// The token, if it is this operator or word.
    pub(in crate::text) fn is(&self, slice: Slice, token: usize, word: &str) -> bool {
        token >= slice.from && token < slice.to && self.layout.word(token) == word
    }

    pub(in crate::text) fn kind(&self, slice: Slice, token: usize) -> Option<Kind> {
        (token >= slice.from && token < slice.to).then(|| self.layout.tokens[token].kind)
    }

    /// The other bracket, or the token itself.
    pub(in crate::text) fn mate(&self, token: usize) -> usize {
        self.layout.tokens[token].mate as usize
    }

    /// The tokens that stand outside of any bracket within the slice; an opening bracket stands for all of it.
    pub(in crate::text) fn tops(&self, slice: Slice) -> impl Iterator<Item = usize> + use<'p, 'a> {
        let layout = self.layout;
        let mut at = slice.from;
        std::iter::from_fn(move || {
            let token = (at < slice.to).then_some(at)?;
            at = (layout.tokens[token].mate as usize).max(token) + 1;
            Some(token)
        })
    }

    /// The first of these operators outside of any bracket.
    pub(in crate::text) fn find(&self, slice: Slice, words: &[&str]) -> Option<usize> {
        self.tops(slice).find(|t| self.layout.tokens[*t].kind == Kind::Op && words.contains(&self.layout.word(*t)))
    }

    /// The pieces between commas; a comma at the end opens no further piece.
    pub(in crate::text) fn pieces(&self, slice: Slice) -> Vec<Slice> {
        let mut pieces = Vec::new();
        let mut from = slice.from;
        for comma in self.tops(slice).filter(|t| self.layout.word(*t) == ",") {
            pieces.push(Slice { from, to: comma });
            from = comma + 1;
        }
        if from < slice.to {
            pieces.push(Slice { from, to: slice.to });
        }
        pieces
    }
}
