//! Numbers that are the same for the same seed, so that whatever was found can be found again.

/// A source of numbers that only look like chance.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        // The step of a linear generator, with its weak low bits folded into the high ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 29)
    }

    /// A number below `n`; 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }

    /// True once in so many times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several; the list must not be empty.
    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
        let three = |seed| [0; 3].map(|_| seed).map(|s: u64| Dice::new(s).bits());
        assert_eq!(three(7), three(7));
        assert_ne!(Dice::new(7).bits(), Dice::new(8).bits());
    }

    #[test]
    fn every_place_of_a_short_list_comes_up() {
        let mut dice = Dice::new(1);
        let mut seen = [false; 5];
        (0..100).for_each(|_| seen[dice.below(5)] = true);
        assert_eq!(seen, [true; 5]);
    }
}
