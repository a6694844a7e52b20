//! A long list that can give back what is finished in the middle of it.
//!
//! A loop of a million iterations numbers a million scopes, of which one is at work. Numbers are never used
//! twice, so what is given back reads as one fixed value, and whole pages of it take no memory.

use std::ops::{Index, IndexMut};

/// Entries of a page. Small enough that a loop of one task an iteration soon gives pages back.
const PAGE: usize = 256;

/// A list in pages.
#[derive(Debug, Clone)]
pub struct Pages<T> {
    pages: Vec<Page<T>>,
    len: usize,
    /// What reads where something was given back.
    gone: T,
}

#[derive(Debug, Clone)]
struct Page<T> {
    /// Empty if all of it is gone.
    entries: Vec<T>,
    /// How many entries were given back.
    gone: u32,
}

impl<T: Copy + PartialEq> Pages<T> {
    /// An empty list; `gone` is what reads where something was given back.
    pub fn new(gone: T) -> Self {
        Self { pages: Vec::new(), len: 0, gone }
    }

    /// How many entries there are, with those that were given back.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there never was an entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An entry; what was given back is not there.
    pub fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| &self[at]).filter(|entry| **entry != self.gone)
    }

    /// All entries in order, with what was given back.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|at| &self[at])
    }

    /// Where there are entries. Pages that were given back cost nothing to pass over.
    pub fn present(&self) -> impl Iterator<Item = usize> + '_ {
        let pages = self.pages.iter().enumerate();
        pages.flat_map(|(number, page)| {
            let here = page.entries.iter().enumerate().filter(|(_, entry)| **entry != self.gone);
            here.map(move |(within, _)| number * PAGE + within)
        })
    }

    /// Adds one entry.
    pub fn push(&mut self, entry: T) {
        self.extend_to(self.len + 1, entry);
    }

    /// Makes the list as long as this, with copies of an entry.
    pub fn extend_to(&mut self, len: usize, entry: T) {
        while self.len < len {
            if self.len.is_multiple_of(PAGE) {
                self.pages.push(Page { entries: Vec::new(), gone: 0 });
            }
            let Some(page) = self.pages.last_mut() else { return };
            let (within, count) = (self.len % PAGE, (PAGE - self.len % PAGE).min(len - self.len));
            if entry == self.gone {
                page.gone += count as u32;
                if page.gone as usize == PAGE {
                    page.entries = Vec::new();
                } else if !page.entries.is_empty() {
                    page.entries.resize(within + count, entry);
                }
            } else {
                // What was given back before it on this page is there again, as something that is gone.
                page.entries.resize(within, self.gone);
                page.entries.resize(within + count, entry);
            }
            self.len += count;
        }
    }

    /// Gives an entry back.
    pub fn give_back(&mut self, at: usize) {
        let gone = self.gone;
        if at >= self.len || self[at] == gone {
            return;
        }
        let page = &mut self.pages[at / PAGE];
        page.entries[at % PAGE] = gone;
        page.gone += 1;
        if page.gone as usize == PAGE {
            page.entries = Vec::new();
        }
    }

    /// How many entries take memory.
    pub fn held(&self) -> usize {
        self.pages.iter().map(|page| page.entries.len()).sum()
    }
}

impl<T> Index<usize> for Pages<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        assert!(at < self.len, "entry {at} of {}", self.len);
        self.pages[at / PAGE].entries.get(at % PAGE).unwrap_or(&self.gone)
    }
}

impl<T: Copy + PartialEq> IndexMut<usize> for Pages<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        assert!(at < self.len, "entry {at} of {}", self.len);
        let within = (self.len - at / PAGE * PAGE).min(PAGE);
        let page = &mut self.pages[at / PAGE];
        if page.entries.len() < within {
            page.entries.resize(within, self.gone);
        }
        &mut page.entries[at % PAGE]
    }
}

impl<T: Copy + PartialEq> Pages<T> {
    /// Puts an entry where there was nothing any more.
    pub fn put(&mut self, at: usize, entry: T) {
        if self[at] == self.gone && entry != self.gone {
            self.pages[at / PAGE].gone -= 1;
        }
        self[at] = entry;
    }
}

impl<T: Copy + PartialEq> PartialEq for Pages<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_reads_as_gone_and_whole_pages_take_no_memory() {
        let mut pages = Pages::new(0);
        pages.extend_to(3 * PAGE, 7);
        pages.push(8);
        for at in 10..3 * PAGE {
            pages.give_back(at);
            pages.give_back(at);
        }
        assert_eq!((pages.len(), pages.held()), (3 * PAGE + 1, PAGE + 1));
        assert_eq!((pages.get(9), pages.get(10), pages[10], pages.get(3 * PAGE)), (Some(&7), None, 0, Some(&8)));
        assert_eq!(pages.get(3 * PAGE + 1), None);
        assert_eq!(pages.present().collect::<Vec<_>>(), (0..10).chain([3 * PAGE]).collect::<Vec<_>>());
    }

    #[test]
    fn how_it_came_about_makes_no_difference() {
        let mut one = Pages::new(0);
        one.extend_to(2 * PAGE + 5, 7);
        (3..2 * PAGE).for_each(|at| one.give_back(at));
        let mut other = Pages::new(0);
        other.extend_to(2 * PAGE + 5, 0);
        (0..3).chain(2 * PAGE..2 * PAGE + 5).for_each(|at| other.put(at, 7));
        assert_eq!(one, other);
        (0..3).for_each(|at| other.give_back(at));
        assert_eq!(other.held(), 5);
        other.push(7);
        assert_ne!(one, other);
    }

    #[test]
    fn what_follows_on_a_page_that_is_all_gone_so_far_is_there() {
        let mut pages = Pages::new(0);
        pages.extend_to(5, 0);
        pages.push(7);
        assert_eq!((pages[4], pages[5], pages.held()), (0, 7, 6));
        pages.give_back(5);
        pages.extend_to(PAGE, 0);
        assert_eq!((pages.held(), pages[5]), (0, 0));
    }
}
