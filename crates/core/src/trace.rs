//! Trace context: what joins the spans of a run to those of whoever started it (W3C Trace Context, `traceparent`).
//!
//! The context that a run is started with is kept as its label, so it is found, shown and searched like any other. The
//! ids of the spans of a run and of its attempts follow from their names: whoever exports them, and whoever works on
//! an attempt, knows them without asking.

use crate::event::TaskIx;
use crate::id::RunId;
use std::collections::BTreeMap;
use std::fmt;

/// The label that keeps a run's context.
pub const LABEL: &str = "traceparent";

/// A trace, and the span in it that caused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The trace.
    pub trace: u128,
    /// The span.
    pub span: u64,
    /// Whether it is sampled, and bits of later versions.
    pub flags: u8,
}

impl Context {
    /// Reads a `traceparent`; `None` for what is none, which is to be ignored.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let mut hex = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            let good = part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            good.then(|| u128::from_str_radix(part, 16).ok()).flatten()
        };
        let (version, trace, span, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
        let (span, flags) = (u64::try_from(span).ok()?, u8::try_from(flags).ok()?);
        // A later version may have more parts; this one has not.
        let whole = version == 0 && parts.next().is_none() || (1..255).contains(&version);
        (whole && trace != 0 && span != 0).then_some(Self { trace, span, flags })
    }

    /// The context that stands among a run's labels.
    pub fn of(labels: &BTreeMap<String, String>) -> Option<Self> {
        Self::parse(labels.get(LABEL)?)
    }

    /// The same trace, as another span of it hands it on.
    #[must_use]
    pub fn within(self, span: u64) -> Self {
        Self { span, ..self }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// The trace of a run that was started without one.
pub fn trace_of(run: RunId) -> u128 {
    u128::from(hashed(&format!("{run}/trace"))) << 64 | u128::from(hashed(&format!("{run}/trace/low")))
}

/// The span of a run.
pub fn span_of_run(run: RunId) -> u64 {
    hashed(&format!("{run}"))
}

/// The span of an attempt.
pub fn span_of_attempt(run: RunId, task: TaskIx, generation: u16, attempt: u16) -> u64 {
    hashed(&format!("{run}/{}/{generation}/{attempt}", task.0))
}

/// Never 0, which means none.
fn hashed(text: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_be_bytes(bytes).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_context_reads_back_as_it_was_written_and_nonsense_is_not_read() {
        let context = Context::parse(GOOD).unwrap();
        assert_eq!(context.to_string(), GOOD);
        assert_eq!(context.within(1).to_string(), "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-01");
        assert!(Context::parse(&format!("01{}-more", &GOOD[2..])).is_some(), "a later version may say more");
        for bad in [
            "",
            "x",
            &format!("{GOOD}-more"),
            &GOOD.to_uppercase(),
            &format!("ff{}", &GOOD[2..]),
            &GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &GOOD.replace('f', "+"),
            &GOOD[..54],
        ] {
            assert_eq!(Context::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_attempt_has_a_span_of_its_own() {
        let of = |task, generation, attempt| span_of_attempt(RunId(5), TaskIx(task), generation, attempt);
        let spans = [of(1, 1, 1), of(1, 1, 2), of(1, 2, 1), of(2, 1, 1), span_of_run(RunId(5)), span_of_run(RunId(6))];
        let distinct: std::collections::BTreeSet<u64> = spans.into_iter().collect();
        assert_eq!(distinct.len(), spans.len());
    }
}
