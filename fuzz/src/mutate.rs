//! Mutation: an input becomes one that is nearly right, which is where readers break.
//!
//! Most changes respect the grain of the text (words, numbers, lines, bracketed groups), so that what comes
//! out gets past the first check of a reader; a few change bare bytes.

mod bytes;
mod json;
mod lines;
mod words;

use crate::dice::Dice;

/// Largest input that is made. Small enough for thousands of rounds a second, large enough for deep nesting.
pub const MOST_BYTES: usize = 8 << 10;

/// What changes draw from.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Another input, to take pieces of.
    pub other: &'a [u8],
    /// Words of the format.
    pub words: &'a [&'a str],
}

type Change = fn(&mut Vec<u8>, &mut Dice, Material<'_>);

/// Those that get far stand there more than once.
const CHANGES: &[Change] = &[
    bytes::flip_a_bit,
    bytes::put_a_byte,
    bytes::drop_some,
    bytes::cut_off,
    lines::repeat,
    lines::drop_one,
    lines::swap,
    lines::indent,
    lines::take_from_another,
    words::replace,
    words::replace,
    words::insert,
    words::insert,
    words::drop_some,
    words::repeat_some,
    words::repeat_often,
    words::swap,
    words::another_number,
    words::another_number,
    words::splice,
    words::splice,
    words::drop_group,
    words::replace_group,
    words::replace_group,
    words::nest_group,
    json::change_a_value,
    json::change_a_value,
    json::change_a_value,
];

/// An input changed in one to four places.
pub fn mutate(input: &[u8], dice: &mut Dice, material: Material<'_>) -> Vec<u8> {
    let mut changed = input.to_vec();
    // Several values of one document, or anything.
    let only_values = dice.once_in(3);
    for _ in 0..=dice.below(4) {
        let change = if only_values { json::change_a_value } else { *dice.of(CHANGES) };
        change(&mut changed, dice, material);
        changed.truncate(MOST_BYTES);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_goes_in_something_of_a_bounded_size_comes_out() {
        let mut dice = Dice::new(3);
        let long = vec![b'['; MOST_BYTES];
        for input in [&b""[..], b"a", b"\n", b"{\"a\":[1,2]}", b"a:\n  - b\n", &long, b"\xff\xfe"] {
            for other in [&b""[..], b"x: {y: 1}\n"] {
                for _ in 0..500 {
                    let made = mutate(input, &mut dice, Material { other, words: &["tasks", "0"] });
                    assert!(made.len() <= MOST_BYTES);
                }
            }
        }
    }

    #[test]
    fn the_same_dice_make_the_same_input() {
        let make = || mutate(b"{\"a\":1}", &mut Dice::new(9), Material { other: b"[2]", words: &["b"] });
        assert_eq!(make(), make());
    }

    #[test]
    fn a_word_of_the_format_gets_into_the_input() {
        let mut dice = Dice::new(5);
        let material = Material { other: b"", words: &["needle"] };
        let found =
            (0..200).any(|_| String::from_utf8_lossy(&mutate(b"a b c", &mut dice, material)).contains("needle"));
        assert!(found);
    }
}
