//! What was made lately, by the mark of what it was made from.
//!
//! A large flow says the same small things over and over: `x + 1`, `size(rows)`, a task without policies. Whoever makes
//! something of them asks here first. Nothing depends on what is still here, so a place is simply taken by whoever comes next.

/// Most places; more would cost more than they save.
const PLACES: usize = 1_024;

/// Some things by their marks.
pub(crate) struct Recent<T> {
    places: Vec<Option<T>>,
    /// How many were put in since it last grew. A short program has few places to make and to drop.
    put: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { places: Vec::new(), put: 0 }
    }
}

impl<T> Recent<T> {
    /// What is at a mark, if it is the right one.
    pub(crate) fn get(&self, mark: u64, is_it: impl FnOnce(&T) -> bool) -> Option<&T> {
        self.places.get(self.place(mark))?.as_ref().filter(|there| is_it(there))
    }

    /// Keeps something until its place is taken.
    pub(crate) fn put(&mut self, mark: u64, it: T) {
        self.put += 1;
        if self.put > self.places.len() && self.places.len() < PLACES {
            let places = (self.places.len() * 8).clamp(8, PLACES);
            self.places.clear();
            self.places.resize_with(places, || None);
            self.put = 1;
        }
        let place = self.place(mark);
        self.places[place] = Some(it);
    }

    /// The number of places is a power of two.
    fn place(&self, mark: u64) -> usize {
        let mixed = mark.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        mixed as usize & self.places.len().wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_until_its_place_is_taken() {
        let mut recent = Recent::default();
        assert_eq!(recent.get(1, |_| true), None);
        for n in 0..100_000u64 {
            recent.put(n, n);
            assert_eq!(recent.get(n, |found| *found == n), Some(&n));
        }
        assert_eq!(recent.places.len(), PLACES);
        assert_eq!(recent.get(7, |found| *found == 7), None, "long since taken");
    }
}
