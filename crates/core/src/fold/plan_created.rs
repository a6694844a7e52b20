//! The plan is there: tasks exist, and the roots are ready. For a cancelled run they are cancelled.

use super::{Fold, Ignored};
use crate::event::{PlanCreated, TaskIx};
use crate::run::Run;
use crate::state::TaskState;
use std::sync::Arc;

pub(super) fn check(run: &Run, event: &PlanCreated) -> Result<(), Ignored> {
    if run.planned {
        return Err(Ignored::Duplicate);
    }
    if run.about.is_some() && event.plan == run.plan_hash { Ok(()) } else { Err(Ignored::Unknown) }
}

pub(super) fn apply(fold: &mut Fold<'_>) {
    fold.run.planned = true;
    fold.run.add_root();
    if fold.run.is_program() {
        let vars = fold.run.parameters();
        fold.begin_chain(0, vars);
    }
    if fold.run.cancel.is_some() {
        return fold.stop_run();
    }
    fold.derive_run_state();
    if fold.run.is_program() {
        return;
    }
    let plan = Arc::clone(&fold.run.plan);
    for node in 0..plan.root().len() {
        // A root that failed at once may have decided about one further on.
        if plan.root().in_degree(node) == 0 && fold.state(TaskIx(node)) == TaskState::Pending {
            fold.ready(TaskIx(node));
        }
    }
}
