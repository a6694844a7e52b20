//! Changes of whole lines, and of what is before their first word.

use super::Material;
use crate::dice::Dice;

fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Changes the lines of an input; nothing happens to one without any.
fn change(input: &mut Vec<u8>, dice: &mut Dice, change: impl FnOnce(&mut Vec<Vec<u8>>, usize, &mut Dice)) {
    let mut all = lines(input);
    if !all.is_empty() {
        let at = dice.below(all.len());
        change(&mut all, at, dice);
        *input = all.concat();
    }
}

pub fn repeat(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    change(input, dice, |all, at, dice| {
        let (line, to) = (all[at].clone(), dice.below(all.len() + 1));
        all.insert(to, line);
    });
}

pub fn drop_one(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    change(input, dice, |all, at, _| drop(all.remove(at)));
}

pub fn swap(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    change(input, dice, |all, at, dice| {
        let to = dice.below(all.len());
        all.swap(at, to);
    });
}

pub fn indent(input: &mut Vec<u8>, dice: &mut Dice, _: Material<'_>) {
    change(input, dice, |all, at, dice| match dice.below(3) {
        0 => drop(all[at].splice(0..0, *b"  ")),
        1 => all[at].insert(0, b' '),
        _ => {
            let spaces = all[at].iter().take_while(|byte| **byte == b' ').count();
            all[at].drain(..dice.below(spaces + 1));
        }
    });
}

pub fn take_from_another(input: &mut Vec<u8>, dice: &mut Dice, material: Material<'_>) {
    let theirs = lines(material.other);
    if theirs.is_empty() {
        return;
    }
    change(input, dice, |all, at, dice| {
        let from = dice.below(theirs.len());
        let count = 1 + dice.below((theirs.len() - from).min(8));
        drop(all.splice(at..at, theirs[from..from + count].iter().cloned()));
    });
}
