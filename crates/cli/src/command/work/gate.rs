//! Gates of items: listed, shown, made and answered. Those of runs are answered by the same commands.

use super::board::Board;
use super::{act, facts, said};
use crate::args::{GateAct, GateCreate, GateOpen, GateShow, Meant, RunRef};
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style};
use crate::table::Cell;
use crate::text;
use edgewise_core::Kind;
use edgewise_core::time::Time;
use edgewise_core::work::part::Extent;
use edgewise_core::work::{Act, Depend, DependencyKind, GateWait, ItemId, Op, WorkGate};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::work::GateView;

/// What a new gate is called behind it in the same commit.
const NEW: &str = "gate";

/// The gates that wait, or all of them; only those that one item waits for if it is named. With each the first command
/// that brings it nearer to being open.
pub(crate) fn list(of: Option<&ItemId>, all: bool, board: &Board) -> Result<Vec<(Row, Option<String>)>> {
    let clock = Clock::local(board.now);
    let waits = |gate: &&WorkGate| {
        let named = of.is_none_or(|item| board.needed_by(gate.id.as_str()).iter().any(|one| one.source == *item));
        named && (all || gate.ended.is_none())
    };
    let row = |gate: &WorkGate| {
        let waiters: Vec<String> = board.needed_by(gate.id.as_str()).iter().map(|one| one.source.to_string()).collect();
        let has: Vec<&str> = gate.approvals.iter().map(|approval| approval.by.as_str()).collect();
        let until = if let GateWait::Timer { wait_until } = gate.wait { wait_until } else { Time::NEVER };
        let cells = vec![
            Cell::new(waiters.join(", "), Ink::Bold),
            Cell::new(gate.id.as_str(), Ink::Wait),
            Cell::from(clock.short(gate.created_at)),
            Cell::from(clock.short(until)),
            Cell::from(has.join(", ")),
            Cell::from(state(gate)),
        ];
        Ok((Row::new(gate.id.to_string(), cells, &facts::gate(&GateView::of(&board.work, gate))?)?, next(gate)))
    };
    board.work.gates().filter(waits).map(row).collect()
}

/// `opens when ann approves`, or how it ended.
fn state(gate: &WorkGate) -> String {
    match &gate.ended {
        None => said::opens(&gate.wait),
        Some(ended) => {
            let by = ended.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
            let why = ended.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{}{by}{why}", if ended.satisfied { "open" } else { "rejected" })
        }
    }
}

/// What somebody would type; nobody opens a timer.
fn next(gate: &WorkGate) -> Option<String> {
    if gate.ended.is_some() {
        return None;
    }
    match &gate.wait {
        GateWait::Timer { .. } => None,
        GateWait::Approval { required_approvers, .. } => {
            let left =
                required_approvers.iter().find(|name| !gate.approvals.iter().any(|approval| approval.by == **name));
            let by = left.map(|name| format!(" --as {name}")).unwrap_or_default();
            Some(format!("edgewise gate approve {}{by}", gate.id))
        }
        GateWait::External { .. } => Some(format!("edgewise gate satisfy {}", gate.id)),
        GateWait::Webhook => Some(format!("edgewise gate url {}", gate.id)),
    }
}

/// `edgewise gate show`
pub(crate) fn show(args: &GateShow, context: &mut Context<'_>) -> Result<Exit> {
    let (board, id) = Board::about(&args.what.to_string(), Extent::Bonds, context)?;
    print(&board, &id, context)
}

/// A gate, for whoever reads.
pub(crate) fn print(board: &Board, id: &ItemId, context: &mut Context<'_>) -> Result<Exit> {
    let gate = board.work.gate(id.as_str()).ok_or_else(|| {
        let what = format!("{id} is an item, not a gate");
        Problem::new(Kind::Invalid, "not_a_gate", what).next(format!("`edgewise show {id}` shows it"))
    })?;
    let lines = lines(board, gate, context.printer.out_style);
    context.printer.one(id.to_string(), &lines, &facts::gate(&GateView::of(&board.work, gate))?)?;
    Ok(Exit::Ok)
}

fn lines(board: &Board, gate: &WorkGate, style: Style) -> Vec<String> {
    let clock = Clock::local(board.now);
    let title = gate.title.as_deref().map(|title| format!("  {}", text::escape(title))).unwrap_or_default();
    let ink = match &gate.ended {
        None => Ink::Wait,
        Some(ended) if ended.satisfied => Ink::Good,
        Some(_) => Ink::Bad,
    };
    let mut lines = vec![format!(
        "{}{title}  {}",
        style.paint(Ink::Bold, gate.id.as_str()),
        style.paint(ink, &text::escape(&state(gate)))
    )];
    let mut about =
        |name: &str, value: String| lines.push(format!("  {} {value}", style.paint(Ink::Dim, &text::pad(name, 11))));
    for approval in &gate.approvals {
        about("approved", format!("by {} {}", approval.by, clock.short(approval.at)));
    }
    if let Some(evidence) = gate.ended.as_ref().and_then(|ended| ended.evidence.as_ref()) {
        about("evidence", text::escape(&evidence.to_string()).into_owned());
    }
    about("made", format!("{} by {}", clock.short(gate.created_at), gate.created_by));
    for one in board.needed_by(gate.id.as_str()) {
        let title = board.work.item(one.source.as_str()).map(|item| item.fields.title.as_str()).unwrap_or_default();
        about("awaited by", format!("{}  {}", style.paint(Ink::Bold, one.source.as_str()), text::escape(title)));
    }
    for task in &gate.tasks {
        let named = format!("{}/{}", task.run.short(), text::escape(&task.path));
        about("awaited by", format!("{}  a task of a run", style.paint(Ink::Bold, &named)));
    }
    if let Some(command) = next(gate) {
        about("next", command);
    }
    lines
}

/// Answers a gate that has an id of its own.
pub(crate) fn act(args: &GateAct, op: fn(Act) -> Op, context: &mut Context<'_>) -> Result<Exit> {
    let typed = match &args.what {
        Meant::Word(word) => word.clone(),
        _ => act::typed("@", context)?,
    };
    let done = act::perform(&[op(Act { id: typed.clone(), why: args.comment.clone() })], context);
    done.map(|_| Exit::Ok).map_err(|problem| {
        let could_be_a_run =
            problem.kind == Kind::NotFound && matches!(&args.what, Meant::Word(word) if RunRef::parse(word).is_ok());
        if could_be_a_run {
            problem.next("a gate of a run is named by its run and its task: `edgewise gate list` shows them")
        } else {
            problem
        }
    })
}

/// `edgewise gate satisfy`
pub(crate) fn satisfy(args: &GateOpen, context: &mut Context<'_>) -> Result<Exit> {
    let id = act::typed(&args.what.to_string(), context)?;
    let op = match (&args.with, &args.comment) {
        (Some(output), None) => Op::Deliver { id, evidence: output.clone() },
        (Some(_), Some(_)) => {
            let what = "--with and --comment are both kept with a gate of items: give one of them";
            return Err(Problem::new(Kind::Invalid, "bad_arguments", what));
        }
        (None, _) => Op::Satisfy(Act { id, why: args.comment.clone() }),
    };
    act::perform(&[op], context)?;
    Ok(Exit::Ok)
}

/// `edgewise gate create`
pub(crate) fn create(args: &GateCreate, context: &mut Context<'_>) -> Result<Exit> {
    let wait = match (args.until, args.external.as_slice(), args.webhook) {
        (Some(until), _, _) => GateWait::Timer { wait_until: until.instant(wall_clock()) },
        (_, [system, id], _) => GateWait::External { external_system: system.clone(), external_id: id.clone() },
        (_, _, true) => GateWait::Webhook,
        _ => GateWait::Approval { required_approvers: args.approver.clone(), approval_count: args.count },
    };
    let mut ops =
        vec![Op::MakeGate { wait, title: args.title.clone(), id: None, name: Some(NEW.to_owned()), approvals: vec![] }];
    for item in &args.items {
        let (id, on, kind) = (act::typed(item, context)?, Some(format!("${NEW}")), Some(DependencyKind::Awaits));
        ops.push(Op::Depend(Box::new(Depend { id, on, kind, when: Default::default(), gate: None, metadata: None })));
    }
    let done = act::perform(&ops, context)?;
    act::touched(&done, context);
    Ok(Exit::Ok)
}
