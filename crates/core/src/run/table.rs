//! What some tasks or scopes have, by their number.
//!
//! Numbers are given out in order, and what is at work at the same time mostly lies close together. So a number is a
//! place: finding one among a hundred thousand costs what it costs among ten, and a page on which nothing is left
//! takes no memory.

use crate::event::TaskIx;
use std::marker::PhantomData;
use std::ops::Index;

/// Entries of a page.
const PAGE: usize = 64;

/// What has a number.
pub trait Numbered: Copy {
    /// Its number.
    fn number(self) -> u32;
    /// What has this number.
    fn of(number: u32) -> Self;
}

impl Numbered for u32 {
    fn number(self) -> u32 {
        self
    }

    fn of(number: u32) -> Self {
        number
    }
}

impl Numbered for TaskIx {
    fn number(self) -> u32 {
        self.0
    }

    fn of(number: u32) -> Self {
        Self(number)
    }
}

/// Values by number.
#[derive(Debug, Clone)]
pub struct Table<K, V> {
    pages: Vec<Page<V>>,
    len: usize,
    keys: PhantomData<K>,
}

#[derive(Debug, Clone)]
struct Page<V> {
    /// Up to the last that was ever there; empty if nothing is left.
    entries: Vec<Option<V>>,
    /// How many are there.
    used: u32,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self { pages: Vec::new(), len: 0, keys: PhantomData }
    }
}

fn place(key: &impl Numbered) -> (usize, usize) {
    let number = key.number() as usize;
    (number / PAGE, number % PAGE)
}

impl<K: Numbered, V> Table<K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What is there.
    pub fn get(&self, key: &K) -> Option<&V> {
        let (page, within) = place(key);
        self.pages.get(page)?.entries.get(within)?.as_ref()
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let (page, within) = place(key);
        self.pages.get_mut(page)?.entries.get_mut(within)?.as_mut()
    }

    /// Whether something is there.
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Puts something there; gives what was there before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let (page, within) = place(&key);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || Page { entries: Vec::new(), used: 0 });
        }
        let page = &mut self.pages[page];
        if within >= page.entries.len() {
            // A run of ten tasks has no use for a whole page.
            let room = (within + 1).next_power_of_two().clamp(4, PAGE);
            page.entries.resize_with(room, || None);
        }
        let before = page.entries[within].replace(value);
        page.used += u32::from(before.is_none());
        self.len += usize::from(before.is_none());
        before
    }

    /// Takes away what is there.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (page, within) = place(key);
        let page = self.pages.get_mut(page)?;
        let gone = page.entries.get_mut(within)?.take()?;
        page.used -= 1;
        self.len -= 1;
        if page.used == 0 {
            page.entries = Vec::new();
        }
        Some(gone)
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.pages.iter().enumerate().flat_map(|(page, entries)| {
            let here = entries.entries.iter().enumerate();
            here.filter_map(move |(within, value)| Some((K::of((page * PAGE + within) as u32), value.as_ref()?)))
        })
    }

    /// Where there is something, in order.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.iter().map(|(key, _)| key)
    }
}

impl<K: Numbered, V> Index<&K> for Table<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        match self.get(key) {
            Some(value) => value,
            None => panic!("there is nothing at {}", key.number()),
        }
    }
}

impl<K: Numbered, V: PartialEq> PartialEq for Table<K, V> {
    /// How it came about makes no difference.
    fn eq(&self, other: &Self) -> bool {
        let number = |(key, value): (K, _)| (key.number(), value);
        self.len == other.len && self.iter().map(number).eq(other.iter().map(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn it_is_a_map_whatever_is_done_with_it() {
        let (mut table, mut map): (Table<u32, u32>, BTreeMap<u32, u32>) = Default::default();
        let mut dice = 1u32;
        for step in 0..20_000 {
            dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = (dice >> 16) % 500;
            if dice.is_multiple_of(3) {
                assert_eq!(table.remove(&key), map.remove(&key));
            } else {
                assert_eq!(table.insert(key, step), map.insert(key, step));
            }
            assert_eq!((table.get(&key), table.len()), (map.get(&key), map.len()));
        }
        assert!(table.iter().eq(map.iter().map(|(key, value)| (*key, value))));
    }

    #[test]
    fn a_page_on_which_nothing_is_left_takes_no_memory_and_makes_no_difference() {
        let (mut one, mut other): (Table<TaskIx, u8>, Table<TaskIx, u8>) = Default::default();
        for n in 0..1_000 {
            one.insert(TaskIx(n), 7);
        }
        for n in 1..1_000 {
            one.remove(&TaskIx(n));
        }
        other.insert(TaskIx(0), 7);
        assert_eq!(one, other);
        assert!(one.pages[1..].iter().all(|page| page.entries.capacity() == 0));
        other.insert(TaskIx(0), 8);
        assert_ne!(one, other);
    }
}
