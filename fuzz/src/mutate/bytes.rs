//! Changes that know nothing of the text.

use super::Material;
use crate::dice::Dice;

/// Bytes that mean something to many readers.
const TELLING: &[u8] = b"\0\t\n\r \"'#&*-:,[]{}|>%@`!\\/=$~\x1b\x7f\x80\xc2\xe2\xff";

pub fn flip_a_bit(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = dice.below(input.len());
    let flipped = input.get(at).map(|byte| byte ^ 1 << dice.below(8));
    drop(input.splice(at..(at + 1).min(input.len()), flipped));
}

pub fn put_a_byte(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = dice.below(input.len() + 1);
    input.insert(at, *dice.of(TELLING));
}

pub fn drop_some(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let from = dice.below(input.len());
    let most = (input.len() - from).min(16);
    let count = dice.below(most + 1);
    input.drain(from..from + count);
}

pub fn cut_off(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    let at = dice.below(input.len() + 1);
    input.truncate(at);
}
