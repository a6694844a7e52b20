//! Changes of JSON that leave it JSON: what gets past every parser, and so reaches the checks behind it.

use super::Material;
use crate::dice::Dice;
use serde_json::{Number, Value};

/// Changes one value of one line, if that line is JSON.
pub fn change_a_value(input: &mut Vec<u8>, dice: &mut Dice, material: Material<'_>) {
    let mut lines: Vec<Vec<u8>> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = dice.below(lines.len());
    let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) else { return };
    let theirs = dice.of(&material.other.split(|byte| *byte == b'\n').collect::<Vec<_>>()).to_vec();
    let other = serde_json::from_slice::<Value>(&theirs).unwrap_or_else(|_| value.clone());
    let mut donor = if dice.once_in(2) { other } else { value.clone() };
    let piece = pick(&mut donor, dice).clone();
    change(pick(&mut value, dice), piece, dice);
    lines[at] = serde_json::to_vec(&value).unwrap_or_default();
    *input = lines.join(&b'\n');
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// Any value within a value, all with the same chance.
fn pick<'a>(value: &'a mut Value, dice: &mut Dice) -> &'a mut Value {
    let nth = dice.below(count(value));
    at(value, nth)
}

fn at(value: &mut Value, mut nth: usize) -> &mut Value {
    if nth == 0 {
        return value;
    }
    nth -= 1;
    let inner: Vec<&mut Value> = match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        _ => Vec::new(),
    };
    for value in inner {
        let size = count(value);
        if nth < size {
            return at(value, nth);
        }
        nth -= size;
    }
    unreachable!("a value has as many values within it as were counted")
}

fn change(value: &mut Value, piece: Value, dice: &mut Dice) {
    match value {
        Value::Number(number) if !dice.once_in(4) => *number = near(number, dice),
        Value::Array(list) if !dice.once_in(3) => change_list(list, piece, dice),
        Value::Object(map) if !dice.once_in(3) => {
            let keys: Vec<String> = map.keys().cloned().collect();
            if !keys.is_empty() {
                map.remove(dice.of(&keys));
            }
        }
        Value::Bool(yes) => *yes = !*yes,
        value => *value = piece,
    }
}

fn change_list(list: &mut Vec<Value>, piece: Value, dice: &mut Dice) {
    let at = dice.below(list.len());
    match dice.below(4) {
        0 => list.insert(at, piece),
        1 if !list.is_empty() => drop(list.remove(at)),
        2 if !list.is_empty() => list.insert(at, list[at].clone()),
        _ if !list.is_empty() => {
            let to = dice.below(list.len());
            list.swap(at, to);
        }
        _ => {}
    }
}

fn near(number: &Number, dice: &mut Dice) -> Number {
    const EDGES: [u64; 9] = [0, 1, 255, 65_535, 65_536, u32::MAX as u64, 1 << 32, i64::MAX as u64, u64::MAX];
    let now = number.as_u64().unwrap_or(0);
    match dice.below(4) {
        0 => (*dice.of(&EDGES)).into(),
        1 => now.wrapping_add(1).into(),
        2 => now.saturating_sub(1).into(),
        _ => (dice.below(12) as u64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_becomes_another() {
        let before = br#"{"a":[1,{"b":true}],"c":"x"}"#.to_vec();
        let mut dice = Dice::new(1);
        let mut others = 0;
        for _ in 0..200 {
            let mut input = before.clone();
            change_a_value(&mut input, &mut dice, Material { other: b"[7]\nnot json", words: &[] });
            serde_json::from_slice::<Value>(&input).unwrap();
            others += usize::from(input != before);
        }
        assert!(others > 150, "only {others} were changed");
    }

    #[test]
    fn what_is_not_json_is_left_alone() {
        let mut input = b"a: b".to_vec();
        change_a_value(&mut input, &mut Dice::new(1), Material { other: b"", words: &[] });
        assert_eq!(input, b"a: b");
    }
}
