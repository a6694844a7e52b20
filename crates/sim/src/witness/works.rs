//! Operations of the work graph by their names.

use edgewise_core::work::Op;

/// What an operation is called.
pub(super) fn kind(op: &Op) -> &'static str {
    match op {
        Op::Add(_) => "Add",
        Op::Update { .. } => "Update",
        Op::Close(_) => "Close",
        Op::Reopen(_) => "Reopen",
        Op::Delete(_) => "Delete",
        Op::Move { .. } => "Move",
        Op::Claim { .. } => "Claim",
        Op::ClaimNext { .. } => "ClaimNext",
        Op::Extend { .. } => "Extend",
        Op::Release { .. } => "Release",
        Op::Depend(_) => "Depend",
        Op::Undepend { .. } => "Undepend",
        Op::MakeGate { .. } => "MakeGate",
        Op::Approve(_) => "Approve",
        Op::Withdraw(_) => "Withdraw",
        Op::Satisfy(_) => "Satisfy",
        Op::Reject(_) => "Reject",
        Op::Deliver { .. } => "Deliver",
        Op::Expect { .. } => "Expect",
    }
}

/// Whether what it writes has words of whoever asked, by which it is known again.
pub(super) fn is_marked(op: &Op) -> bool {
    matches!(op, Op::Add(_) | Op::Update { .. } | Op::Close(_) | Op::Reopen(_) | Op::Delete(_) | Op::Depend(_))
        || matches!(op, Op::MakeGate { .. })
}
