//! What somebody must be trusted with for each thing that can be asked of the engine: the same as at the route for it.

use crate::auth::Permission;
use edgewise_core::work::Op;
use edgewise_engine::folder::Ask;

/// What somebody must be trusted with to ask it.
pub(super) fn needs(ask: &Ask) -> Permission {
    match ask {
        Ask::Ping | Ask::Wait(_) | Ask::Look(_) => Permission::Look,
        Ask::Approve(_) | Ask::Withdraw(_) | Ask::Reject(_) | Ask::Satisfy(_) => Permission::Approve,
        Ask::Start(_)
        | Ask::Cancel(_)
        | Ask::Pause(_)
        | Ask::Resume(_)
        | Ask::Skip(_)
        | Ask::CancelTask(_)
        | Ask::Resolve(_)
        | Ask::Supply(_)
        | Ask::Reset(_)
        | Ask::ResolveRun(_)
        | Ask::GiveUp(_)
        | Ask::Register(_)
        | Ask::SetSchedule(_)
        | Ask::SetQueue(_)
        | Ask::Rerun(_) => Permission::Operate,
        // Gates of items are spoken to by operations on the work graph.
        Ask::Work(work) if work.ops.iter().all(answers_a_gate) => Permission::Approve,
        Ask::Work(_) => Permission::Operate,
        // An import says who approved and who closed what: whoever brings one in is believed.
        Ask::Freeze(_) | Ask::Unfreeze(_) | Ask::Remove(_) | Ask::ChangeSetting(_) | Ask::Import(_) => {
            Permission::Admin
        }
    }
}

fn answers_a_gate(op: &Op) -> bool {
    matches!(op, Op::Approve(_) | Op::Withdraw(_) | Op::Reject(_) | Op::Satisfy(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Role::{self, Admin, Approver, Operator, Viewer};
    use edgewise_core::flow::compile_file;
    use serde_json::{Value, json};

    /// Everybody who may look; who may speak to gates; who may act.
    const LOOK: &[Role] = &[Viewer, Operator, Approver, Admin];
    const GATES: &[Role] = &[Operator, Approver, Admin];
    const ACT: &[Role] = &[Operator, Admin];
    const ALL: &[Role] = &[Admin];

    /// Who may ask it. No line stands for several, so that whoever adds a thing to ask must say who may.
    fn may(ask: &Ask) -> (&'static str, &'static [Role]) {
        match ask {
            Ask::Ping => ("ping", LOOK),
            Ask::Start(_) => ("start", ACT),
            Ask::Cancel(_) => ("cancel", ACT),
            Ask::Pause(_) => ("pause", ACT),
            Ask::Resume(_) => ("resume", ACT),
            Ask::Approve(_) => ("approve", GATES),
            Ask::Withdraw(_) => ("withdraw", GATES),
            Ask::Reject(_) => ("reject", GATES),
            Ask::Satisfy(_) => ("satisfy", GATES),
            Ask::Skip(_) => ("skip", ACT),
            Ask::CancelTask(_) => ("cancel_task", ACT),
            Ask::Resolve(_) => ("resolve", ACT),
            Ask::Supply(_) => ("supply", ACT),
            Ask::Reset(_) => ("reset", ACT),
            Ask::ResolveRun(_) => ("resolve_run", ACT),
            Ask::GiveUp(_) => ("give_up", ACT),
            Ask::Freeze(_) => ("freeze", ALL),
            Ask::Unfreeze(_) => ("unfreeze", ALL),
            Ask::Wait(_) => ("wait", LOOK),
            Ask::Remove(_) => ("remove", ALL),
            Ask::Register(_) => ("register", ACT),
            Ask::SetSchedule(_) => ("set_schedule", ACT),
            Ask::SetQueue(_) => ("set_queue", ACT),
            Ask::ChangeSetting(_) => ("change_setting", ALL),
            Ask::Rerun(_) => ("rerun", ACT),
            Ask::Work(_) => ("work", ACT),
            Ask::Import(_) => ("import", ALL),
            Ask::Look(_) => ("look", LOOK),
        }
    }

    /// One of each, as it comes over the wire.
    fn samples() -> Vec<Value> {
        let flows = compile_file("flow: f\ntasks: { a: { emit: x } }\n", "f.yaml").unwrap();
        let plan: Value = serde_json::from_slice(&flows[0].plan.encode().1).unwrap();
        let (run, by) = ("0000000000000007", "ann");
        let (act, task) = (json!({ "run": run, "by": by }), json!({ "run": run, "task": "a", "by": by }));
        let acts = ["cancel", "pause", "resume", "resolve_run", "give_up", "freeze", "unfreeze"];
        let tasks = ["approve", "withdraw", "reject", "skip", "cancel_task", "resolve", "reset"];
        let of_runs = acts.iter().map(|word| json!({ *word: act }));
        let of_tasks = tasks.iter().map(|word| json!({ *word: task }));
        let others = [
            json!("ping"),
            json!({ "start": { "plan": plan, "input": {}, "by": by } }),
            json!({ "satisfy": { "act": task } }),
            json!({ "supply": { "act": task, "output": 1 } }),
            json!({ "wait": run }),
            json!({ "remove": { "runs": [run], "keep_keys": 0 } }),
            json!({ "register": { "plan": plan, "by": by } }),
            json!({ "set_schedule": { "name": "s", "by": by } }),
            json!({ "set_queue": { "queue": "q", "by": by } }),
            json!({ "change_setting": { "key": "k", "value": 1, "by": by } }),
            json!({ "rerun": { "run": run, "from": "start", "by": by } }),
            json!({ "work": { "ops": [{ "op": "add", "title": "A" }], "by": by } }),
            json!({ "import": { "items": [], "gates": [], "runs": [], "dependencies": [] } }),
            json!({ "look": { "look": "cycles" } }),
        ];
        of_runs.chain(of_tasks).chain(others).collect()
    }

    #[test]
    fn each_thing_that_can_be_asked_is_asked_by_those_who_may_and_by_nobody_else() {
        let samples = samples();
        for sample in &samples {
            let ask: Ask = serde_json::from_value(sample.clone()).unwrap_or_else(|error| panic!("{sample}: {error}"));
            let (word, expected) = may(&ask);
            let said = sample.as_object().map_or(sample.as_str(), |fields| fields.keys().next().map(String::as_str));
            assert_eq!(said, Some(word));
            let found: Vec<Role> = Role::ALL.into_iter().filter(|role| role.may(needs(&ask))).collect();
            assert_eq!(found, expected, "{word}");
        }
        assert_eq!(samples.len(), 28, "one of each");
    }

    #[test]
    fn operations_on_items_need_no_more_than_all_of_them_need() {
        let (add, yes) = (json!({ "op": "add", "title": "A" }), json!({ "op": "approve", "id": "ew-1" }));
        for (ops, expected) in [
            (json!([yes]), Permission::Approve),
            (json!([yes, yes]), Permission::Approve),
            (json!([yes, add]), Permission::Operate),
            (json!([{ "op": "deliver", "id": "ew-1", "evidence": 1 }]), Permission::Operate),
        ] {
            let ask: Ask = serde_json::from_value(json!({ "work": { "ops": ops, "by": "ann" } })).unwrap();
            assert_eq!(needs(&ask), expected, "{ops}");
        }
    }
}
