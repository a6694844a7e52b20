//! A program as one of the plans of a storm: the world answers it as it answers the reference, and whatever else happens,
//! what it comes to is what the reference says, as long as nobody but its own actions made anything of it fail.

use super::reference::{STEPS, Told, interpret};
use super::{depends_on_order, grow};
use crate::violation::{Held, Violation, ensure};
use crate::witness::Book;
use edgewise_core::event::{Event, TaskFinished, TimerKind};
use edgewise_core::plan::Plan;
use edgewise_core::run::End;
use std::sync::Arc;

/// So much a program does to the world, at least and at most: less is no storm, and more does not end in one.
const EFFECTS: std::ops::RangeInclusive<usize> = 2..=24;

/// A program, and what it comes to.
pub(crate) struct Guest {
    pub plan: Arc<Plan>,
    told: Told,
}

impl Guest {
    /// The first program from a seed on that compiles, ends, and means the same whichever of its arms is first.
    pub fn of(seed: u64) -> Self {
        let mut seeds = (0..).map(|n: u64| seed.wrapping_add(n << 32));
        seeds.find_map(Self::grown).unwrap_or_else(|| unreachable!("one seed of a few has such a program"))
    }

    fn grown(seed: u64) -> Option<Self> {
        let text = grow(seed);
        let parsed = edgewise_core::text::parse(&text, "guest.flow").ok()?;
        let mut compiled = edgewise_core::text::compile(&text, "guest.flow").ok()?;
        let told = interpret(&parsed.program, STEPS).filter(|told| EFFECTS.contains(&told.effects.len()))?;
        let plan = Arc::new(compiled.swap_remove(0).plan);
        (!depends_on_order(&parsed.program, true)).then_some(Self { plan, told })
    }

    /// Whether a run is of this program.
    pub fn plays(&self, book: &Book) -> bool {
        *book.run.plan == *self.plan
    }

    /// A run of it ended as the reference says. False if something made it another thing: people, or an attempt that was
    /// not answered by the world alone.
    pub fn compare(&self, book: &Book, is_own: impl Fn(&TaskFinished) -> bool) -> Result<bool, Violation> {
        let own = |event: &Event| match event {
            Event::TaskFinished(e) => is_own(e),
            Event::TimerFired(e) => matches!(e.timer.kind, TimerKind::Retry | TimerKind::Gate),
            other => CHANGES_NOTHING.contains(&other.name()),
        };
        if !book.entries.iter().all(|entry| own(&entry.event)) {
            return Ok(false);
        }
        self.ended(book).map(|()| true)
    }

    fn ended(&self, book: &Book) -> Held {
        let end = match &book.run.end {
            Some(End::Returned(value)) => Ok((**value).clone()),
            Some(End::Failed(failure)) => Err((**failure).clone()),
            other => return Err(Violation::new("programs_end_as_promised", format!("{other:?} is no end"))),
        };
        let said = || format!("{}: expected {:?}, found {end:?}", book.run.id, self.told.end);
        ensure(end == self.told.end, "programs_end_as_promised", said)
    }
}

/// Events that may come at any time, and a program comes to the same.
const CHANGES_NOTHING: [&str; 9] = [
    "RunTriggered",
    "PlanCreated",
    "RunAdvanced",
    "RunPauseRequested",
    "RunResumeRequested",
    "RunFrozen",
    "RunUnfrozen",
    "DispatchEnqueued",
    "DispatchReturned",
];
