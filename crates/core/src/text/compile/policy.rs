//! Policies: what brackets say is laid over what the flow says, and that over our own defaults.

use crate::plan::{Share, Timeouts};
use crate::retry::{Retry, Typed};
use crate::text::tree::{self, Policies};

/// What holds for an action that says nothing.
#[derive(Default)]
pub(super) struct Defaults {
    retry: Retry,
    timeouts: Timeouts,
    share: Share,
}

impl Defaults {
    pub(super) fn new(flow: &Policies) -> Self {
        let (retry, timeouts, share) = Self::default().under(flow);
        Self { retry, timeouts, share }
    }

    /// What holds for a sub-run: it is tried once and takes as long as it likes, unless its own brackets say
    /// otherwise. The tasks in it have attempts and bounds of their own.
    pub(super) fn of_sub_run(own: &Policies) -> (Retry, Timeouts) {
        let once = Retry { max_attempts: 1, ..Retry::default() };
        let (retry, timeouts, _) = Self { retry: once, ..Self::default() }.under(own);
        (retry, timeouts)
    }

    /// What holds for an action with these brackets. Its typed rules come before those of the flow.
    pub(super) fn under(&self, own: &Policies) -> (Retry, Timeouts, Share) {
        let mut retry = own.retry.over(&self.retry);
        if !own.typed.is_empty() {
            let mut general = std::mem::take(&mut retry.typed);
            let mut typed: Vec<Typed> = own.typed.iter().map(|rule| typed_over(rule, &retry)).collect();
            typed.append(&mut general);
            retry.typed = typed;
        }
        let share = Share {
            queue: own.queue.clone().or_else(|| self.share.queue.clone()),
            priority: own.priority.unwrap_or(self.share.priority),
            // Its key is bound where the call stands.
            limit: None,
        };
        let (own, flow) = (&own.timeouts, &self.timeouts);
        let timeouts = Timeouts {
            attempt: own.attempt.or(flow.attempt),
            overall: own.overall.or(flow.overall),
            queue: own.queue.or(flow.queue),
            heartbeat: own.heartbeat.or(flow.heartbeat),
        };
        (retry, timeouts, share)
    }
}

fn typed_over(rule: &tree::Typed, plain: &Retry) -> Typed {
    Typed { kinds: rule.types.iter().map(|kind| kind.text.clone()).collect(), retry: rule.retry.over(plain) }
}
