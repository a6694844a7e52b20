//! Ids: fixed-width numbers that print as lower-case Crockford base32. Parsing is validation.
//!
//! Nobody here mints an id: whoever commits passes the chance and the clock in.

use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

fn encode<const N: usize>(mut value: u128) -> [u8; N] {
    let mut text = [b'0'; N];
    // Twelve characters are 60 bits: shifting those in one register is four times as fast as shifting all.
    for dozen in text.rchunks_mut(12) {
        let mut part = value as u64;
        for slot in dozen.iter_mut().rev() {
            *slot = ALPHABET[(part & 31) as usize];
            part >>= 5;
        }
        value >>= 60;
    }
    text
}

fn decode(text: &str, len: usize, bits: u32) -> Option<u128> {
    if text.len() != len {
        return None;
    }
    let mut value: u128 = 0;
    for byte in text.bytes() {
        let digit = ALPHABET.iter().position(|a| *a == byte.to_ascii_lowercase())?;
        value = value.checked_mul(32)? | digit as u128;
    }
    (bits == 128 || value >> bits == 0).then_some(value)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty), $len:literal chars, $bits:literal bits, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            /// Reads the printed form; anything else is refused.
            pub fn parse(text: &str) -> Result<Self> {
                decode(text, $len, $bits).map(|v| Self(v as $repr)).ok_or_else(|| {
                    Error::invalid("bad_id", format!(concat!("{:?} is not ", $what, ": expected ", $len,
                        " characters of 0-9 and a-z without i, l, o, u"), text))
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text: [u8; $len] = encode(u128::from(self.0));
                f.pad(std::str::from_utf8(&text).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                let text: [u8; $len] = encode(u128::from(self.0));
                s.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// A run: 80 bits of chance (or of a hash), so that a short prefix is enough to type.
    RunId(u128), 16 chars, 80 bits, "a run id"
);
id!(
    /// An event: a ULID. Orders the events of one stream and nothing else.
    EventId(u128), 26 chars, 128 bits, "an event id"
);
id!(
    /// What the ledger keeps of a lease's token.
    TokenHash(u64), 13 chars, 64 bits, "a token hash"
);
id!(
    /// The proof of a lease, known to the worker alone.
    Token(u128), 26 chars, 128 bits, "a token"
);
id!(
    /// The content hash of a plan.
    PlanHash(u128), 26 chars, 128 bits, "a plan hash"
);

impl RunId {
    /// Not a run: the stream of a workspace's flows, schedules and settings.
    pub const CONTROL: RunId = RunId((1 << 80) - 1);
    /// Not a run: the stream of a workspace's work graph.
    pub const WORK: RunId = RunId((1 << 80) - 2);

    /// Keeps 80 of the bits given, and never comes to one of the reserved ids.
    pub fn from_bits(bits: u128) -> Self {
        let kept = Self(bits & ((1 << 80) - 1));
        if kept.is_run() { kept } else { Self(kept.0 >> 1) }
    }

    /// The id of a run that begins now: chance behind 15 bits of the second. What begins together lies together in every
    /// index, so that a new run costs the same beside millions; the bits are turned round, so that the first
    /// character, which people type, is another one every second.
    pub fn mint(at: crate::time::Time, chance: u128) -> Self {
        let second = ((at.0 / 1_000) as u16).reverse_bits() >> 1;
        Self::from_bits(u128::from(second) << 65 | chance & ((1 << 65) - 1))
    }

    /// Whether it names a run, and not one of the workspace's own streams.
    pub fn is_run(self) -> bool {
        self < Self::WORK
    }

    /// The child of one attempt of a task: always the same, so that it cannot be made twice. The task's number
    /// stands for its path, so that a row alone tells the child's id.
    pub fn child(parent: RunId, task: u32, generation: u16, attempt: u16) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"sub-run");
        hasher.update(&parent.0.to_le_bytes());
        hasher.update(&task.to_le_bytes());
        hasher.update(&generation.to_le_bytes());
        hasher.update(&attempt.to_le_bytes());
        let mut head = [0; 16];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self::from_bits(u128::from_le_bytes(head))
    }

    /// The first eight characters: what tables show.
    pub fn short(&self) -> String {
        self.to_string()[..8].to_owned()
    }
}

impl EventId {
    /// The id of an event minted at a time, never at or before `after`, the stream's last one.
    ///
    /// There is chance in it also where the clock is behind the stream: two who decide on the same event
    /// must not give the same id to different ones, or one would take the other's commit for its own.
    pub fn mint(time: crate::time::Time, chance: u128, after: EventId) -> Self {
        let fresh = (u128::from(time.0) << 80) | (chance & ((1 << 80) - 1));
        let next = after.0.saturating_add(1).saturating_add(chance & ((1 << 48) - 1));
        Self(fresh.max(next))
    }

    /// The id `n` places further on in the same record.
    #[must_use]
    pub fn plus(self, n: u64) -> Self {
        Self(self.0.saturating_add(u128::from(n)))
    }
}

impl Token {
    /// What the ledger keeps: enough to recognise the token, not enough to make it.
    pub fn hash(self) -> TokenHash {
        let digest = blake3::hash(&self.0.to_le_bytes());
        let mut head = [0; 8];
        head.copy_from_slice(&digest.as_bytes()[..8]);
        TokenHash(u64::from_le_bytes(head))
    }
}

impl PlanHash {
    /// The hash of a plan's encoded bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut head = [0; 16];
        head.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
        Self(u128::from_le_bytes(head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_as_it_was_printed() {
        for bits in [0, 1, u128::from(u64::MAX), (1 << 80) - 1] {
            let id = RunId(bits);
            assert_eq!(RunId::parse(&id.to_string()).unwrap(), id);
        }
        let id = EventId(u128::MAX);
        assert_eq!(EventId::parse(&id.to_string()).unwrap(), id);
    }

    #[test]
    fn runs_that_begin_in_one_second_lie_together_and_the_next_second_begins_with_another_character() {
        let at = |millis, chance| RunId::mint(crate::time::Time(millis), chance).to_string();
        assert_eq!(at(1_000, 0)[..3], at(1_999, u128::MAX)[..3]);
        assert_ne!(at(1_000, 0), at(1_999, u128::MAX));
        let firsts: std::collections::BTreeSet<char> =
            (0..32).filter_map(|second| at(second * 1_000, 7).chars().next()).collect();
        assert_eq!(firsts.len(), 32);
        let starts: std::collections::BTreeSet<String> =
            (0..32_768).map(|second| at(second * 1_000, 7)[..3].to_owned()).collect();
        assert_eq!(starts.len(), 32_768);
    }

    #[test]
    fn no_run_gets_the_id_of_a_stream_of_its_workspace() {
        for bits in [0, 1, u128::MAX, u128::MAX - 1, RunId::WORK.0 - 1] {
            assert!(RunId::from_bits(bits).is_run(), "{bits:x}");
        }
        assert!(!RunId::CONTROL.is_run() && !RunId::WORK.is_run());
    }

    #[test]
    fn what_is_not_an_id_is_refused() {
        for text in
            ["", "short", "0000000000000000!", "iiiiiiiiiiiiiiii", "../../etc/passwd", "zzzzzzzzzzzzzzzzzzzzzzzzzz"]
        {
            assert!(RunId::parse(text).is_err(), "{text}");
        }
        assert!(EventId::parse("zzzzzzzzzzzzzzzzzzzzzzzzzz").is_err(), "over 128 bits");
    }

    #[test]
    fn event_ids_never_go_back_even_when_the_clock_does() {
        let first = EventId::mint(crate::time::Time(1_000), 7, EventId(0));
        let second = EventId::mint(crate::time::Time(10), 3, first);
        assert!(second > first);
    }

    #[test]
    fn two_who_are_behind_the_same_event_mint_different_ids() {
        let ahead = EventId::mint(crate::time::Time(1_000), 7, EventId(0));
        let mint = |chance| EventId::mint(crate::time::Time(10), chance, ahead);
        assert_ne!(mint(3), mint(4));
        assert!(mint(3) > ahead && mint(4) > ahead);
    }
}
