//! What follows from an answer, or from none: pure, so that time and chance come from outside.

use super::deliver::Reply;
use edgewise_core::time::Millis;

/// Attempts at one event before it becomes a dead letter: about three hours.
pub const ATTEMPTS: u32 = 10;
const BASE: u64 = 2_000;
const FACTOR: u64 = 3;
/// The longest wait, also of those that the other side asks for.
const CAP: u64 = 3_600_000;

/// What to do next about an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It was taken: the next one.
    Done,
    /// Wait, and try again.
    Again(Millis),
    /// Try no more, for this reason.
    Dead(String),
    /// The other side wants no more events at all.
    Gone,
}

/// Judges the answer to an attempt, counted from 1. Half of a wait is left to chance (`dice`), so that many hooks of
/// one target do not come back at the same instant.
pub fn judge(reply: &Reply, attempt: u32, dice: u64) -> Next {
    let (why, asked) = match reply {
        Reply::Status(200..=299, _) => return Next::Done,
        Reply::Status(410, _) => return Next::Gone,
        Reply::Status(status, after) => (format!("the answer was {status}"), *after),
        Reply::Failed(why) => (why.clone(), None),
    };
    if attempt >= ATTEMPTS {
        return Next::Dead(format!("{why}, after {attempt} attempts"));
    }
    let most = FACTOR.saturating_pow(attempt - 1).saturating_mul(BASE).min(CAP);
    let own = most / 2 + dice % (most / 2 + 1);
    Next::Again(Millis(own.max(asked.map_or(0, |span| span.0)).min(CAP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reply: &Reply, attempt: u32, dice: u64, expected: &Next) {
        assert_eq!(judge(reply, attempt, dice), *expected, "{reply:?}, attempt {attempt}");
    }

    #[test]
    fn waits_grow_have_chance_in_them_and_honour_what_is_asked() {
        let again = |ms| Next::Again(Millis(ms));
        for status in [200, 201, 204, 299] {
            check(&Reply::Status(status, None), ATTEMPTS, 0, &Next::Done);
        }
        check(&Reply::Status(410, None), 1, 0, &Next::Gone);
        check(&Reply::Status(500, None), 1, 0, &again(1_000));
        check(&Reply::Status(500, None), 1, 1_000, &again(2_000));
        check(&Reply::Status(302, None), 2, 0, &again(3_000));
        check(&Reply::Failed("no answer".into()), 3, 0, &again(9_000));
        check(&Reply::Status(503, None), 9, u64::MAX, &again(1_800_000 + u64::MAX % 1_800_001));
        check(&Reply::Status(429, Some(Millis(60_000))), 1, 0, &again(60_000));
        check(&Reply::Status(429, Some(Millis(1))), 3, 0, &again(9_000));
        check(&Reply::Status(429, Some(Millis(u64::MAX))), 1, 0, &again(CAP));
        check(&Reply::Status(500, None), ATTEMPTS, 0, &Next::Dead("the answer was 500, after 10 attempts".into()));
    }
}
