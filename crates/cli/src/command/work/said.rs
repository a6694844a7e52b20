//! What was done, in a sentence: whoever typed it sees that it was understood.

use edgewise_core::work::{Close, DependencyKind, Done, Op};
pub(crate) use edgewise_engine::facts::gate::opens;

/// Most ids that a sentence names.
const NAMED: usize = 5;

/// The sentence about one operation, and what came of it.
pub(crate) fn sentence(op: &Op, done: &Done) -> String {
    let id = done.id.as_ref().map(ToString::to_string).unwrap_or_default();
    if done.already && done.id.is_none() {
        // Under a key, and whoever answered it then is gone.
        return "was done before, under the same key".to_owned();
    }
    let told = match op {
        Op::Add(add) => format!("added {id}: {}", add.title),
        Op::Update { .. } if done.already => format!("{id} is so already"),
        Op::Update { .. } => format!("changed {id}"),
        Op::Close(_) if done.already => format!("{id} is closed already"),
        Op::Close(close) => format!("closed {id}{}", how(close.how)),
        Op::Reopen(_) if done.already => format!("{id} is open already"),
        Op::Reopen(_) => format!("{id} is open again"),
        Op::Delete(_) if done.already => format!("{id} is deleted already"),
        Op::Delete(_) => format!("deleted {id}{}", with_dependencies(done.removed)),
        Op::Move { .. } => moved(&id, done),
        Op::Claim { .. } | Op::ClaimNext { .. } if done.id.is_none() => "nothing is ready".to_owned(),
        Op::Claim { .. } | Op::ClaimNext { .. } => format!("{id} is yours"),
        Op::Extend { .. } => format!("{id} stays yours"),
        Op::Release { .. } if done.already => format!("{id} is nobody's already"),
        Op::Release { .. } => format!("{id} is free again"),
        Op::Depend(depend) => depended(done.kind.or(depend.kind).unwrap_or(DependencyKind::Blocks), &id, done),
        Op::Undepend { .. } => undepended(op, &id, done),
        Op::MakeGate { wait, .. } => format!("made gate {id}: {}", opens(wait)),
        Op::Approve(_) => acted(&id, "approved", "was approved by you already", done),
        Op::Withdraw(_) => acted(&id, "withdrew your approval of", "was not approved by you", done),
        Op::Satisfy(_) => acted(&id, "opened", "is open already", done),
        Op::Reject(_) => acted(&id, "rejected", "was rejected already", done),
        Op::Deliver { .. } => acted(&id, "opened", "is open already", done),
        Op::Expect { .. } => format!("{id} is as expected"),
    };
    told + &consequences(done)
}

fn how(how: Close) -> &'static str {
    match how {
        Close::Done => "",
        Close::Failed => " as failed",
        Close::Cancelled => " as cancelled",
    }
}

fn with_dependencies(removed: u32) -> String {
    match removed {
        0 => String::new(),
        1 => ", and 1 dependency with it".to_owned(),
        n => format!(", and {n} dependencies with it"),
    }
}

fn moved(id: &str, done: &Done) -> String {
    match (&done.target, done.already) {
        (Some(parent), true) => format!("{id} is a part of {parent} already"),
        (Some(parent), false) => format!("{id} is a part of {parent} now"),
        (None, true) => format!("{id} is a part of nothing already"),
        (None, false) => format!("{id} is a part of nothing now"),
    }
}

/// From the side of the source: `ew-b now waits for ew-a (blocks)`.
fn depended(kind: DependencyKind, source: &str, done: &Done) -> String {
    let target = done.target.as_ref().map(ToString::to_string).unwrap_or_default();
    let says = verb(kind);
    let name = kind.name();
    match done.already {
        // What somebody did is not only so from now on.
        false if says.starts_with("was ") => format!("{source} {says} {target} ({name})"),
        false if says.starts_with("is ") => format!("{source} is now {} {target} ({name})", &says["is ".len()..]),
        false => format!("{source} now {says} {target} ({name})"),
        true => format!("{source} {says} {target} already ({name})"),
    }
}

/// What the source of a dependency does with its target.
pub(crate) fn verb(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Blocks | DependencyKind::Awaits => "waits for",
        DependencyKind::ParentChild => "is a part of",
        DependencyKind::RelatesTo => "relates to",
        DependencyKind::References => "references",
        DependencyKind::Supersedes => "supersedes",
        DependencyKind::Duplicates => "duplicates",
        DependencyKind::CausedBy => "was caused by",
        DependencyKind::Validates => "validates",
        DependencyKind::Mentions => "mentions",
        DependencyKind::AuthoredBy => "was written by",
        DependencyKind::AssignedTo => "is assigned to",
        DependencyKind::ApprovedBy => "was approved by",
        DependencyKind::RepliesTo => "answers",
    }
}

/// The same from the other end.
pub(crate) fn verb_back(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::Blocks | DependencyKind::Awaits => "is waited for by",
        DependencyKind::ParentChild => "holds",
        DependencyKind::RelatesTo => "relates to",
        DependencyKind::References => "is referenced by",
        DependencyKind::Supersedes => "is superseded by",
        DependencyKind::Duplicates => "is duplicated by",
        DependencyKind::CausedBy => "caused",
        DependencyKind::Validates => "is validated by",
        DependencyKind::Mentions => "is mentioned by",
        DependencyKind::AuthoredBy => "wrote",
        DependencyKind::AssignedTo => "is to do",
        DependencyKind::ApprovedBy => "approved",
        DependencyKind::RepliesTo => "is answered by",
    }
}

fn undepended(op: &Op, source: &str, done: &Done) -> String {
    let Op::Undepend { on, kind, .. } = op else { return String::new() };
    let count = match done.removed {
        1 => "1 dependency".to_owned(),
        n => format!("{n} dependencies"),
    };
    let of = kind.map(|kind| format!(" of type {}", kind.name())).unwrap_or_default();
    match (&done.target, on, kind) {
        (Some(target), _, Some(kind)) => format!("{source} no longer {} {target} ({})", verb(*kind), kind.name()),
        (Some(target), _, None) => format!("took {count} between {source} and {target} away"),
        (None, _, _) => format!("took {count}{of} of {source} away"),
    }
}

fn acted(id: &str, did: &str, already: &str, done: &Done) -> String {
    if done.already { format!("gate {id} {already}") } else { format!("{did} gate {id}") }
}

/// Who is ready or blocked because of it.
fn consequences(done: &Done) -> String {
    let mut told = String::new();
    for (ids, word) in [(&done.unblocked, "ready"), (&done.blocked, "blocked")] {
        if ids.is_empty() {
            continue;
        }
        let mut named: Vec<String> = ids.iter().take(NAMED).map(ToString::to_string).collect();
        if ids.len() > NAMED {
            named.push(format!("{} more", ids.len() - NAMED));
        }
        let last = named.pop().unwrap_or_default();
        let list = if named.is_empty() { last } else { format!("{} and {last}", named.join(", ")) };
        let be = if ids.len() == 1 { "is" } else { "are" };
        told += &format!("; {list} {be} {word} now");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::work::{ItemId, Target};

    fn id(text: &str) -> ItemId {
        ItemId::parse(text).unwrap()
    }

    fn check(op: &str, done: &Done, said: &str) {
        let op: Op = serde_json::from_str(op).unwrap();
        assert_eq!(sentence(&op, done), said);
    }

    fn of(text: &str) -> Done {
        Done { id: Some(id(text)), ..Done::default() }
    }

    fn between(source: &str, target: &str) -> Done {
        Done { target: Some(Target::parse(target).unwrap()), ..of(source) }
    }

    #[test]
    fn whoever_waits_is_named_first() {
        let depend = r#"{"op":"depend","id":"b","on":"a","type":"blocks"}"#;
        check(depend, &between("ew-b", "ew-a"), "ew-b now waits for ew-a (blocks)");
        let again = Done { already: true, ..between("ew-b", "ew-a") };
        check(depend, &again, "ew-b waits for ew-a already (blocks)");
        let child = r#"{"op":"depend","id":"b","on":"a","type":"parent-child"}"#;
        check(child, &between("ew-b", "ew-a"), "ew-b is now a part of ew-a (parent-child)");
        let cause = r#"{"op":"depend","id":"b","on":"a","type":"caused-by"}"#;
        check(cause, &between("ew-b", "ew-a"), "ew-b was caused by ew-a (caused-by)");
    }

    #[test]
    fn what_follows_from_it_is_said_too() {
        let many = ["ew-1", "ew-2", "ew-3", "ew-4", "ew-5", "ew-6", "ew-7"].map(id).to_vec();
        let close = r#"{"op":"close","id":"a"}"#;
        check(close, &of("ew-a"), "closed ew-a");
        check(close, &Done { unblocked: vec![id("ew-b")], ..of("ew-a") }, "closed ew-a; ew-b is ready now");
        let done = Done { unblocked: many, ..of("ew-a") };
        check(close, &done, "closed ew-a; ew-1, ew-2, ew-3, ew-4, ew-5 and 2 more are ready now");
        let failed = r#"{"op":"close","id":"a","how":"failed"}"#;
        let done = Done { blocked: vec![id("ew-b"), id("ew-c")], ..of("ew-a") };
        check(failed, &done, "closed ew-a as failed; ew-b and ew-c are blocked now");
    }

    #[test]
    fn every_other_act_has_its_sentence() {
        check(r#"{"op":"add","title":"Mend it"}"#, &of("ew-a"), "added ew-a: Mend it");
        check(
            r#"{"op":"delete","id":"a"}"#,
            &Done { removed: 2, ..of("ew-a") },
            "deleted ew-a, and 2 dependencies with it",
        );
        let forgotten = Done { already: true, ..Done::default() };
        check(r#"{"op":"add","title":"Mend it"}"#, &forgotten, "was done before, under the same key");
        check(r#"{"op":"claim_next","filter":{},"lease":1}"#, &Done::default(), "nothing is ready");
        check(r#"{"op":"move","id":"a"}"#, &of("ew-a"), "ew-a is a part of nothing now");
        check(r#"{"op":"move","id":"a","parent":"p"}"#, &between("ew-a", "ew-p"), "ew-a is a part of ew-p now");
        let undepend = r#"{"op":"undepend","id":"b","on":"a","type":"blocks"}"#;
        check(undepend, &Done { removed: 1, ..between("ew-b", "ew-a") }, "ew-b no longer waits for ew-a (blocks)");
        let all = r#"{"op":"undepend","id":"b"}"#;
        check(all, &Done { removed: 3, ..of("ew-b") }, "took 3 dependencies of ew-b away");
        let gate = r#"{"op":"make_gate","gateType":"approval","requiredApprovers":["ann","bob"],"approvalCount":1}"#;
        check(gate, &of("gate-a"), "made gate gate-a: opens when 1 of ann, bob approve");
        check(r#"{"op":"approve","id":"g"}"#, &of("gate-a"), "approved gate gate-a");
    }
}
