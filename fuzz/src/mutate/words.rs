//! Changes of words, numbers and bracketed groups: what nearly every format of ours is made of.

use super::{MOST_BYTES, Material};
use crate::dice::Dice;
use std::ops::Range;

/// Numbers at which something ends or turns around.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "-0",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "-1e-999",
    "0.1",
    "1.0",
    "00",
    "0x10",
    "1e3",
    "NaN",
    "340282366920938463463374607431768211456",
];

/// Where the words of a text are: runs of letters and digits, runs of spaces, and every other byte by itself.
fn split(text: &[u8]) -> Vec<Range<usize>> {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | 0x80.. => 1,
        b' ' => 2,
        _ => 0,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        match words.last_mut() {
            Some(last) if kind(*byte) > 0 && kind(text[last.start]) == kind(*byte) => last.end = at + 1,
            _ => words.push(at..at + 1),
        }
    }
    words
}

/// A range of whole words, at most so many.
fn some(text: &[u8], dice: &mut Dice, most: usize) -> Range<usize> {
    let words = split(text);
    if words.is_empty() {
        return 0..0;
    }
    let from = dice.below(words.len());
    let to = (from + dice.below(most)).min(words.len() - 1);
    words[from].start..words[to].end
}

/// A bracketed group with its brackets; empty where there is none.
fn group(text: &[u8], dice: &mut Dice) -> Range<usize> {
    let opens: Vec<usize> = (0..text.len()).filter(|at| matches!(text[*at], b'{' | b'[' | b'(')).collect();
    if opens.is_empty() {
        return 0..0;
    }
    let from = *dice.of(&opens);
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().skip(from) {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return from..at + 1;
        }
    }
    from..text.len()
}

fn word<'a>(dice: &mut Dice, material: Material<'a>) -> &'a [u8] {
    if material.words.is_empty() { b"0" } else { dice.of(material.words).as_bytes() }
}

fn put(input: &mut Vec<u8>, at: Range<usize>, piece: &[u8]) {
    drop(input.splice(at, piece.iter().copied()));
}

pub fn replace(input: &mut Vec<u8>, dice: &mut Dice, material: Material<'_>) {
    let at = some(input, dice, 1);
    let piece = word(dice, material).to_vec();
    put(input, at, &piece);
}

pub fn insert(input: &mut Vec<u8>, dice: &mut Dice, material: Material<'_>) {
    let at = some(input, dice, 1).start;
    put(input, at..at, word(dice, material));
}

pub fn drop_some(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = some(input, dice, 6);
    put(input, at, b"");
}

pub fn repeat_some(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = some(input, dice, 12);
    let piece = input[at.clone()].to_vec();
    put(input, at.end..at.end, &piece);
}

/// Depth and length: the same few words up to hundreds of times.
pub fn repeat_often(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = some(input, dice, 3);
    let piece = input[at.clone()].to_vec();
    let most = if dice.once_in(8) { 3_000 } else { 80 };
    let times = dice.below(most).min(MOST_BYTES / piece.len().max(1));
    put(input, at.end..at.end, &piece.repeat(times));
}

pub fn swap(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let (one, two) = (some(input, dice, 3), some(input, dice, 3));
    let (first, second) = if one.start < two.start { (one, two) } else { (two, one) };
    if first.end <= second.start {
        let (a, b) = (input[first.clone()].to_vec(), input[second.clone()].to_vec());
        put(input, second, &a);
        put(input, first, &b);
    }
}

pub fn another_number(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let numbers: Vec<_> = split(input).into_iter().filter(|at| input[at.start].is_ascii_digit()).collect();
    if !numbers.is_empty() {
        let at = dice.of(&numbers).clone();
        put(input, at, dice.of(NUMBERS).as_bytes());
    }
}

pub fn splice(input: &mut Vec<u8>, dice: &mut Dice, material: Material<'_>) {
    let theirs = some(material.other, dice, 24);
    let at = some(input, dice, 6);
    let at = if dice.once_in(2) { at.start..at.start } else { at };
    put(input, at, &material.other[theirs]);
}

pub fn drop_group(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = group(input, dice);
    put(input, at, b"");
}

pub fn replace_group(input: &mut Vec<u8>, dice: &mut Dice, material: Material<'_>) {
    let from = if dice.once_in(2) { material.other.to_vec() } else { input.clone() };
    let (at, theirs) = (group(input, dice), group(&from, dice));
    if !at.is_empty() {
        put(input, at, &from[theirs]);
    }
}

/// A group within its like.
pub fn nest_group(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let (at, piece) = (group(input, dice), group(input, dice));
    if at.len() > 1 {
        let piece = input[piece].to_vec();
        put(input, at.start + 1..at.start + 1, &piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_the_grain_of_the_text() {
        let text = b"ab: {x1: 10}  # \xc3\xa9";
        let words: Vec<&[u8]> = split(text).into_iter().map(|at| &text[at]).collect();
        let expected: Vec<&[u8]> =
            vec![b"ab", b":", b" ", b"{", b"x1", b":", b" ", b"10", b"}", b"  ", b"#", b" ", b"\xc3\xa9"];
        assert_eq!(words, expected);
    }

    #[test]
    fn a_group_ends_where_its_bracket_closes() {
        let text = b"a [b {c} d] e";
        let mut dice = Dice::new(1);
        let groups: std::collections::BTreeSet<&[u8]> = (0..50).map(|_| &text[group(text, &mut dice)]).collect();
        assert_eq!(groups, std::collections::BTreeSet::from([&b"[b {c} d]"[..], b"{c}"]));
    }
}
