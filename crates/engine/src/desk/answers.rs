//! Answers to keyed operations: those of late are kept at hand, so that whoever asks again is answered alike.

use edgewise_core::work::Done;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Most that are kept.
const MOST: usize = 1_000;

#[derive(Default)]
pub(super) struct Answers {
    given: BTreeMap<Arc<str>, Vec<Done>>,
    /// Their keys, the oldest first.
    order: VecDeque<Arc<str>>,
}

impl Answers {
    pub fn get(&self, key: &str) -> Option<&Vec<Done>> {
        self.given.get(key)
    }

    /// Keeps one more; the oldest makes room for it.
    pub fn keep(&mut self, key: &str, done: Vec<Done>) {
        let key: Arc<str> = key.into();
        if self.given.insert(Arc::clone(&key), done).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.given.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_makes_room_for_the_newest_whatever_their_keys_are() {
        let mut answers = Answers::default();
        // The later a key comes the smaller it is.
        let key = |n: usize| format!("{:05}", 99_999 - n);
        for n in 0..MOST + 10 {
            answers.keep(&key(n), Vec::new());
            answers.keep(&key(n), Vec::new());
        }
        let kept: Vec<usize> = (0..MOST + 10).filter(|n| answers.get(&key(*n)).is_some()).collect();
        assert_eq!((kept.len(), kept.first()), (MOST, Some(&10)));
    }
}
