//! What an item waits for and nobody here knows: something outside, or a slip of the finger. It is kept, since such an
//! item may come later; and it is said at once, with what was probably meant, since else it is in the way for ever.

use super::board::Board;
use crate::command::Context;
use crate::problem::{Problem, Result};
use crate::text;
use edgewise_core::suggest::nearest;
use edgewise_core::work::part::Extent;
use edgewise_core::work::{Done, ItemId, Obstacle, Op, Status, Target, Work};

/// Operations up to which items are looked at one by one; for more the whole graph is read once.
const ONE_BY_ONE: usize = 8;

/// What is to be said of each operation; nothing of most. What was done stays done, also if it cannot be looked at now.
pub(crate) fn warnings(ops: &[Op], done: &[Done], context: &Context<'_>) -> Vec<Vec<String>> {
    let found = unknown(ops, done, context).unwrap_or_default();
    if found.iter().all(Vec::is_empty) {
        return vec![Vec::new(); ops.len()];
    }
    let names = Names::of(context);
    let said = |(found, done): (&Vec<Target>, &Done)| match &done.id {
        Some(id) => found.iter().map(|target| sentence(id, target, &names)).collect(),
        None => Vec::new(),
    };
    found.iter().zip(done).map(said).collect()
}

/// What each operation made an item wait for although nobody knows it.
fn unknown(ops: &[Op], done: &[Done], context: &Context<'_>) -> Result<Vec<Vec<Target>>> {
    let waits = |op: &Op| if let Op::Add(add) = op { !add.needs.is_empty() } else { matches!(op, Op::Depend(_)) };
    let many = ops.iter().filter(|op| waits(op)).count() > ONE_BY_ONE;
    let whole = if many { Some(Board::open(context)?) } else { None };
    let mut found = Vec::new();
    for (op, done) in ops.iter().zip(done) {
        let mut targets = match (done.id.as_ref().filter(|_| waits(op)), &whole) {
            (Some(id), Some(board)) => in_the_way(&board.work, id),
            (Some(id), None) => {
                let (board, id) = Board::about(id.as_str(), Extent::Reasons, context)?;
                in_the_way(&board.work, &id)
            }
            (None, _) => Vec::new(),
        };
        targets.retain(|target| done.target.as_ref().is_none_or(|one| one == target));
        found.push(targets);
    }
    Ok(found)
}

/// A run, and a gate of one, was looked for before it was accepted.
fn in_the_way(work: &Work, id: &ItemId) -> Vec<Target> {
    let own = work.blockers(id.as_str()).into_iter().filter(|one| one.through.is_none());
    let unknown = own.filter(|one| one.reason == Obstacle::Unresolved && one.by.of_run().is_none());
    unknown.map(|one| one.by).collect()
}

fn sentence(id: &ItemId, target: &Target, names: &Names) -> String {
    let remove = format!("`edgewise dep remove {id} {}`", text::quoted(target.as_str()));
    let meant = names.near(target.as_str(), Some(id)).map(|meant| format!("; did you mean {meant}?"));
    let meant = meant.unwrap_or_default();
    format!("nobody here knows {target}: it stays in the way of {id} until such an item is added, or {remove}{meant}")
}

/// A refusal of what can be no id at all knows the item that may have been meant: titles are typed, too.
pub(crate) fn refused(problem: Problem, ops: &[Op], context: &Context<'_>) -> Problem {
    if problem.code != "bad_target" {
        return problem;
    }
    let typed = ops.iter().flat_map(|op| match op {
        Op::Add(add) => add.needs.iter().map(String::as_str).collect(),
        Op::Depend(depend) => depend.on.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    });
    let mut bad = typed.filter(|text| Target::parse(text).is_err());
    match bad.next().and_then(|text| Names::of(context).near(text, None)) {
        Some(meant) => problem.next(format!("did you mean {meant}?")),
        None => problem.next("`edgewise list` shows the items that there are"),
    }
}

/// What items and gates are called: their ids, those without what stands before the dash, their titles.
struct Names(Vec<(String, ItemId, Option<String>)>);

impl Names {
    /// All that there are; none where they cannot be looked at now.
    fn of(context: &Context<'_>) -> Self {
        let Ok(Board { work, .. }) = Board::open(context) else { return Self(Vec::new()) };
        let there = work.items().filter(|item| item.status != Status::Tombstone);
        let items = there.map(|item| (item.id.clone(), Some(item.fields.title.clone())));
        let gates = work.gates().map(|gate| (gate.id.clone(), gate.title.clone()));
        let mut names = Vec::new();
        for (id, title) in items.chain(gates) {
            let short = id.as_str().split_once('-').map(|(_, short)| short.to_owned());
            let called = [Some(id.to_string()), short, title.clone()].into_iter().flatten();
            names.extend(called.map(|name| (name, id.clone(), title.clone())));
        }
        Self(names)
    }

    /// The id that was probably meant, with its title; never that of the item itself.
    fn near(&self, text: &str, of: Option<&ItemId>) -> Option<String> {
        let others = || self.0.iter().filter(|(_, id, _)| Some(id) != of);
        let near = nearest(text, others().map(|(name, _, _)| name.as_str()))?;
        let (_, id, title) = others().find(|(name, _, _)| name == near)?;
        Some(title.as_ref().map_or(id.to_string(), |title| format!("{id} ({title})")))
    }
}
