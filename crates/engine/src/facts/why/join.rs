//! From an item to the run or the gate of a run that it awaits, from a task of that to the item that it waits for, and on: one tree of
//! reasons, in which everything is told once.

use super::Asking;
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::limits::REASON_DEPTH;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::why::{Because, Cause, Mover, Why};
use edgewise_core::work::{Help, Reason, Target};

/// Most tasks of one run that are told in a tree of reasons.
const TASKS: usize = 10;

impl Asking<'_> {
    /// Goes through a tree of reasons, and on where a run stands in it that has not ended.
    pub(super) fn follow(&mut self, reason: &mut Reason, depth: usize) -> Result<()> {
        if reason.seen {
            return Ok(());
        }
        if !self.told.insert(reason.id.clone()) {
            seen(reason);
            return Ok(());
        }
        if depth >= REASON_DEPTH {
            cut(reason);
            return Ok(());
        }
        if let Some(run) = reason.id.as_run() {
            self.run(reason, run)?;
        } else if let Some((run, path)) = reason.id.as_task() {
            let path = path.to_owned();
            self.gate(reason, run, &path)?;
        }
        reason.because.iter_mut().try_for_each(|inner| self.follow(inner, depth + 1))
    }

    /// Tells why a run has not ended: those of its tasks that somebody or something has to move.
    fn run(&mut self, reason: &mut Reason, run: RunId) -> Result<()> {
        let open = self.reader.row(run)?.is_some_and(|row| !row.state.is_done());
        if !open {
            return Ok(());
        }
        if !self.runs.insert(run) {
            seen(reason);
            return Ok(());
        }
        let run = self.reader.run(run)?;
        let why = self.learned(&run, Why::of_run(&run))?;
        let flow = run.about.as_ref().map_or("", |about| about.flow.as_str());
        let (was, is) =
            (format!("run {} has not ended", run.id), format!("run {} of {flow} has not ended", run.id.short()));
        self.told(reason, &run, why, (&was, &is))
    }

    /// Tells why a gate of a run is not open: who can open it, or what it comes after.
    fn gate(&mut self, reason: &mut Reason, run: RunId, path: &str) -> Result<()> {
        let open = self.reader.row(run)?.is_some_and(|row| !row.state.is_done());
        let was = format!("gate {path} of run {run} is not open");
        if !open || !reason.says.starts_with(&was) {
            return Ok(());
        }
        let run = self.reader.run(run)?;
        // One that may yet come has nothing to say.
        let Some(task) = run.find(path) else { return Ok(()) };
        let why = self.learned(&run, Why::of_task(&run, task))?;
        let flow = run.about.as_ref().map_or("", |about| about.flow.as_str());
        let is = format!("gate {path} of run {} of {flow} is not open", run.id.short());
        let behind = reason.says.strip_prefix(&was).unwrap_or_default().to_owned();
        self.told(reason, &run, why, (&was, &is))?;
        // What the gate says of itself, and who opens it, is said here and not once more below.
        let itself = format!("{}/{path}", run.id.short());
        if let Some(at) = reason.because.iter().position(|because| because.id.as_str() == itself) {
            let own = reason.because.remove(at);
            reason.says = format!("{is}: {}{behind}", own.says);
            reason.help = own.help;
            reason.because.extend(own.because);
        }
        Ok(())
    }

    /// What a run says of itself or of a task of it, instead of what the work graph knew.
    fn told(&mut self, reason: &mut Reason, run: &Run, mut why: Why, (was, is): (&str, &str)) -> Result<()> {
        let mut items = self.awaited(run, &mut why)?;
        // What it is in the way of may have been said behind it.
        let behind = reason.says.strip_prefix(was).unwrap_or_default();
        reason.says = format!("{is}: {}{behind}", why.sentence(&written));
        reason.help = why.moved_by.iter().map(help).collect();
        // What only holds other tasks says nothing that these do not say.
        let leaves: Vec<&Cause> = why.causes.iter().filter(|cause| cause.needs.is_empty()).collect();
        reason.because = leaves.iter().take(TASKS).map(|cause| task(run, cause, &mut items)).collect();
        if leaves.len() > TASKS {
            reason.help.push(go_on(leaves.len() - TASKS, &run.id.short()));
        }
        Ok(())
    }

    /// The items that tasks of a run wait for, with their reasons.
    fn awaited(&mut self, run: &Run, why: &mut Why) -> Result<Vec<Reason>> {
        let mut found = Vec::new();
        for (task, id) in why.items().into_iter().take(TASKS) {
            if let Some(reason) = self.item(id.as_str())? {
                why.learn_item(run, task, reason.standing == Some(edgewise_core::work::Standing::Blocked));
                found.push(reason);
            }
        }
        Ok(found)
    }
}

/// A task as a reason: what is said of it, who moves it, and what it waits for outside of its run.
fn task(run: &Run, cause: &Cause, items: &mut Vec<Reason>) -> Reason {
    let id = Target::parse(&format!("{}/{}", run.id.short(), cause.path)).unwrap_or_else(|_| Target::run(run.id));
    let mut help: Vec<Help> = cause.moved_by.iter().map(help).collect();
    let because = match &cause.because {
        Because::Child { run, .. } => {
            help.clear();
            vec![bare(Target::run(*run), format!("run {} has not ended", run.short()))]
        }
        Because::Item { .. } | Because::Shared { .. } => {
            let id = match &cause.because {
                Because::Item { id, .. } => id.as_str(),
                Because::Shared { gate, .. } => gate.as_str(),
                _ => "",
            };
            items.iter().position(|item| item.id.as_str() == id).map_or_else(Vec::new, |at| {
                // The item says who can do something about it.
                help.retain(|one| one.who == TIME);
                vec![items.swap_remove(at)]
            })
        }
        _ => Vec::new(),
    };
    Reason { help, because, ..bare(id, cause.sentence(&written)) }
}

fn bare(id: Target, says: String) -> Reason {
    Reason { id, title: String::new(), standing: None, says, help: Vec::new(), because: Vec::new(), seen: false }
}

const TIME: &str = "time";

/// What moves a task, as help.
fn help(mover: &Mover) -> Help {
    let said = |who: &str| Help { who: who.into(), does: mover.sentence(&written), command: None };
    let typed = |who: &str, does: &str, command: &str| Help {
        who: who.into(),
        does: does.into(),
        command: Some(command.to_owned()),
    };
    match mover {
        Mover::Clock { .. } => said(TIME),
        Mover::Worker { .. } | Mover::Holder => said("a worker"),
        Mover::Engine | Mover::Run { .. } => said("an engine"),
        Mover::Setting { .. } => said("an operator"),
        Mover::Slot { run, task, command } => {
            typed("anybody", &format!("wait until {task} of run {} ends, or end it", run.short()), command)
        }
        Mover::Person { name, command } => typed(name.as_deref().unwrap_or("anybody"), "move it on", command),
    }
}

/// Told already: only named.
fn seen(reason: &mut Reason) {
    reason.seen = true;
    reason.help.clear();
    reason.because.clear();
}

/// What lies deeper than one answer tells is counted.
fn cut(reason: &mut Reason) {
    let more = count(&reason.because);
    if more > 0 {
        reason.because.clear();
        let on = go_on(more, reason.id.as_str());
        reason.help.push(on);
    }
}

fn count(reasons: &[Reason]) -> usize {
    reasons.iter().map(|reason| 1 + count(&reason.because)).sum()
}

fn go_on(more: usize, id: &str) -> Help {
    let does = format!("ask on from here, where {more} more {} behind", if more == 1 { "is" } else { "are" });
    Help { who: "anybody".into(), does, command: Some(format!("edgewise why {id}")) }
}

fn written(at: Time) -> String {
    at.to_string()
}
