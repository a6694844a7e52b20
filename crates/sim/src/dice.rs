//! Chance with a seed: the same seed throws the same dice on any machine.

/// Dice that fall the same way for the same seed.
#[derive(Debug, Clone)]
pub struct Dice(u64);

/// SplitMix64's last stage: neighbouring numbers come out far from each other.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Self {
        Self(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    /// The dice of one step of a seed: leaving another step out does not change how they fall.
    pub fn of_step(seed: u64, step: u64) -> Self {
        Self::new(mix(seed) ^ step.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.draw() % n
    }

    /// True once in `n` throws; never if `n` is 0.
    pub fn one_in(&mut self, n: u64) -> bool {
        n > 0 && self.below(n) == 0
    }

    /// One of several, by its number; `None` if there are none.
    pub fn index(&mut self, len: usize) -> Option<usize> {
        (len > 0).then(|| self.below(len as u64) as usize)
    }

    /// One of several; there must be one.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}
