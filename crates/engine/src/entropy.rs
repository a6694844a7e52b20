//! Chance, as a stream from one seed: the operating system's in production, the simulator's in tests.

/// An endless stream of unpredictable numbers.
pub struct Entropy {
    key: [u8; 32],
    counter: u64,
    pool: [u8; 64],
    left: usize,
}

impl Entropy {
    /// The stream of a seed.
    pub fn from_seed(key: [u8; 32]) -> Self {
        Self { key, counter: 0, pool: [0; 64], left: 0 }
    }

    /// A stream seeded by the operating system.
    pub fn from_system() -> edgewise_core::Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|e| {
            edgewise_core::Error::unavailable("no_entropy", "the operating system gave no random numbers")
                .with_source(e)
        })?;
        Ok(Self::from_seed(key))
    }

    /// The next 128 bits.
    pub fn bits(&mut self) -> u128 {
        if self.left == 0 {
            self.counter += 1;
            let mut reader = blake3::Hasher::new_keyed(&self.key).update(&self.counter.to_le_bytes()).finalize_xof();
            reader.fill(&mut self.pool);
            self.left = self.pool.len();
        }
        let mut out = [0; 16];
        out.copy_from_slice(&self.pool[self.left - 16..self.left]);
        self.left -= 16;
        u128::from_le_bytes(out)
    }
}
