//! Marks: a number for a text, equal for equal texts and seldom for others.
//!
//! Only to look in the right place first: whoever finds two equal marks compares the texts. A text that was made to
//! have the mark of another costs a comparison, and decides nothing.

/// The mark of a text.
pub(crate) fn mark(text: &str) -> u64 {
    mark_of(text.as_bytes())
}

/// The mark of some bytes.
pub(crate) fn mark_of(bytes: &[u8]) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |mark: u64, word: u64| (mark ^ word).wrapping_mul(SPREAD).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut mark = words.iter().fold(bytes.len() as u64, |mark, word| step(mark, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mark = step(mark, u64::from_le_bytes(last));
    step(mark, 0)
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn near_texts_have_different_marks() {
        let mut marks: Vec<u64> = (0..100_000).map(|n| mark(&format!("task-{n}"))).collect();
        marks.extend(["", "\0", "a", "a\0", "aaaaaaaa", "aaaaaaaa\0"].map(mark));
        marks.sort_unstable();
        assert!(marks.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
