//! Lines of one kind are counted for a minute and written as one.

use super::{Line, WINDOW};
use edgewise_core::time::Time;
use std::collections::BTreeMap;

/// Most kinds that are counted by themselves; more than that are counted together.
const KINDS: usize = 1_000;

type Kind = (Option<String>, String, String, u16);

/// What was counted since the first of its kind.
#[derive(Default)]
pub(super) struct Sums {
    since: Time,
    kinds: BTreeMap<Kind, (Line, u64)>,
}

impl Sums {
    /// What is to be written because its minute is over. A clock that went back ends it too.
    pub fn due(&mut self, now: Time) -> Vec<Line> {
        if now.since(self.since) < WINDOW && now >= self.since {
            return Vec::new();
        }
        self.since = now;
        self.take()
    }

    /// Counts a line; gives it back to be written if it is the first of its kind.
    pub fn count(&mut self, line: Line) -> Option<Line> {
        let mut kind = (line.who.clone(), line.peer.clone(), line.route.clone(), line.status);
        let mut line = line;
        if self.kinds.len() >= KINDS && !self.kinds.contains_key(&kind) {
            // Whoever comes from a thousand addresses is not worth a thousand lines a minute.
            line = Line { who: None, role: None, peer: "many".into(), ..line };
            kind = (None, "many".into(), line.route.clone(), line.status);
        }
        if let Some((last, count)) = self.kinds.get_mut(&kind) {
            (last.at, *count) = (line.at, *count + 1);
            return None;
        }
        self.kinds.insert(kind, (line.clone(), 0));
        Some(line)
    }

    /// Everything that was only counted.
    pub fn take(&mut self) -> Vec<Line> {
        let kinds = std::mem::take(&mut self.kinds).into_values();
        kinds.filter(|(_, count)| *count > 0).map(|(line, times)| Line { times, ..line }).collect()
    }
}
