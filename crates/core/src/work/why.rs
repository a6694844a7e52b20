//! Why an item stands as it does: the complete tree of reasons, and who or what can move each leaf.
//!
//! Each thing is told once; where it comes up again it is marked as seen. What is said to help never destroys
//! anything.

use super::table::End;
use super::{Blocker, GateWait, Help, Obstacle, Reason, RunGateEnd, Standing, Target, Work};
use crate::limits;
use crate::state::Phase;
use crate::time::Time;
use std::collections::BTreeSet;

impl Work {
    /// Why an item or a gate stands as it does at an instant.
    pub fn why(&self, id: &str, now: Time) -> Reason {
        let target = Target::parse(id).unwrap_or_else(|_| Target::nothing());
        let mut telling = Telling { work: self, now, seen: BTreeSet::new() };
        telling.tell(&target, 0)
    }
}

struct Telling<'a> {
    work: &'a Work,
    now: Time,
    seen: BTreeSet<Target>,
}

impl Telling<'_> {
    fn tell(&mut self, target: &Target, depth: usize) -> Reason {
        let seen = !self.seen.insert(target.clone());
        let mut reason = match self.work.end(target) {
            End::Item(n) => self.item(n),
            End::Gate(n) => self.gate(n),
            End::Run(n) => match target.as_task() {
                Some((_, path)) => self.gate_of_run(n, path),
                None => self.run(n),
            },
            End::Nobody => self.stranger(target),
        };
        reason.seen = seen;
        let End::Item(n) = self.work.end(target) else { return reason };
        if seen {
            reason.help.clear();
            return reason;
        }
        let blockers = self.work.blockers_of(n);
        if depth >= limits::REASON_DEPTH && !blockers.is_empty() {
            reason.help.push(help("anybody", "ask on from here", format!("edgewise why {target}")));
            return reason;
        }
        for blocker in blockers {
            let because = self.blocker(target, &blocker, depth);
            reason.because.push(because);
        }
        if reason.because.is_empty() {
            self.children(n, &mut reason, depth);
        }
        reason
    }

    /// What a thing that holds others waits for itself: its open children.
    fn children(&mut self, n: u32, reason: &mut Reason, depth: usize) {
        let slot = self.work.slot(n);
        if slot.over() || slot.open_children == 0 || depth >= limits::REASON_DEPTH {
            return;
        }
        let mut open: Vec<Target> = self
            .work
            .children_of(n)
            .filter(|child| !self.work.slot(*child).over())
            .map(|child| self.work.id(child).clone().into())
            .collect();
        open.sort();
        reason.help.clear();
        reason.says = match open.len() {
            1 => format!("{}; it is done when its open child is", reason.says),
            count => format!("{}; it is done when its {count} open children are", reason.says),
        };
        for child in open {
            let because = self.tell(&child, depth + 1);
            reason.because.push(because);
        }
    }

    fn blocker(&mut self, waiter: &Target, blocker: &Blocker, depth: usize) -> Reason {
        let mut reason = self.tell(&blocker.by, depth + 1);
        let whose = blocker.through.as_ref().map_or(waiter.as_str(), |through| through.as_str());
        if let Some(through) = &blocker.through {
            reason.says = format!("{} (in the way of {through}, which {waiter} is in)", reason.says);
        }
        if blocker.reason == Obstacle::Unsatisfiable {
            reason.says = format!("{}, and that is not the end that {whose} waits for", reason.says);
            let by = &blocker.by;
            if self.work.number(by.as_str()).is_some() {
                reason.help.push(help("anybody", "open it again", format!("edgewise reopen {by}")));
            }
            if let Some((run, path)) = by.as_task() {
                if self.work.run_gate_end(run, path) != Some(RunGateEnd::Open) {
                    reason.help.push(help("anybody", "ask it again", format!("edgewise rerun {run} --task {path}")));
                }
            } else if let End::Run(n) = self.work.end(by)
                && self.work.runs[n as usize].state.is_some_and(|state| state.phase() != Phase::Succeeded)
            {
                reason.help.push(help("anybody", "run it again", format!("edgewise rerun {by}")));
            }
            let does = format!("let {whose} wait for something else");
            reason.help.push(help("anybody", &does, format!("edgewise dep remove {whose} {by}")));
        }
        if blocker.reason == Obstacle::Unresolved {
            let does = format!("make it, or let {whose} wait for something else");
            reason.help.push(help("anybody", &does, format!("edgewise dep remove {whose} {}", blocker.by)));
        }
        reason
    }

    fn item(&self, n: u32) -> Reason {
        let item = &self.work.slot(n).item;
        let id = &item.id;
        let standing = self.work.facts(n).standing(self.now);
        let mut helps = Vec::new();
        let says = match &standing {
            Standing::Ready => {
                helps.push(match &item.fields.assignee {
                    Some(name) => help(name, "begin", format!("edgewise claim {id} --as {name}")),
                    None => help("anybody", "begin", format!("edgewise claim {id}")),
                });
                format!("{id} is ready: somebody has to do it")
            }
            Standing::Blocked => {
                let count = self.work.blockers_of(n).len();
                format!("{id} is blocked by {count} {}", if count == 1 { "thing" } else { "things" })
            }
            Standing::Claimed(by, until) => {
                helps.push(help(by, "close it when it is done", format!("edgewise close {id} --as {by}")));
                format!("{by} is at {id}, until {until} unless they go on")
            }
            Standing::Scheduled(at) => {
                helps.push(Help { who: "time".into(), does: format!("it is ready at {at}"), command: None });
                format!("{id} is put off until {at}")
            }
            Standing::Draft(plan) => {
                helps.push(help("anybody", "make the plan count", format!("edgewise update {plan} --phase active")));
                format!("{id} is in {plan}, a plan that is still being written")
            }
            Standing::Ephemeral(instance) => {
                helps.push(help("anybody", "begin", format!("edgewise claim {id}")));
                format!("{id} is ready for who asks for ephemeral work: it is in {instance}")
            }
            Standing::Aside => {
                helps.push(help("anybody", "take it up again", format!("edgewise update {id} --status open")));
                format!("{id} is set aside: {}", item.status.name())
            }
            Standing::Over => match &item.closed {
                Some(closed) => format!("{id} was closed as {} by {}", closed.how.name(), closed.by),
                None => format!("{id} was deleted"),
            },
            Standing::NotWork => format!("{id} is nothing to be done"),
        };
        let title = item.fields.title.clone();
        let id = id.clone().into();
        Reason { id, title, standing: Some(standing), says, help: helps, because: Vec::new(), seen: false }
    }

    fn gate(&self, n: u32) -> Reason {
        let gate = &self.work.gates[n as usize].gate;
        let id = &gate.id;
        let mut helps = Vec::new();
        let says = match (&gate.ended, &gate.wait) {
            (Some(ended), _) => {
                let how = if ended.satisfied { "open" } else { "rejected" };
                let by = ended.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
                format!("gate {id} is {how}{by} since {}", ended.at)
            }
            (None, GateWait::Timer { wait_until }) => {
                helps.push(Help { who: "time".into(), does: format!("it opens at {wait_until}"), command: None });
                format!("gate {id} opens at {wait_until}")
            }
            (None, GateWait::Approval { required_approvers, .. }) => {
                let given = |name: &&crate::name::Name| gate.approvals.iter().any(|approval| approval.by == **name);
                for name in required_approvers.iter().filter(|name| !given(name)) {
                    helps.push(help(name, "approve", format!("edgewise gate approve {id} --as {name}")));
                }
                if required_approvers.is_empty() {
                    helps.push(help("anybody", "approve", format!("edgewise gate approve {id}")));
                }
                let needed = gate.needed().unwrap_or_default();
                format!("gate {id} has {} of {needed} approvals", gate.approvals.len())
            }
            (None, GateWait::External { external_system, external_id }) => {
                helps.push(help(external_system, "say that it is done", format!("edgewise gate satisfy {id}")));
                format!("gate {id} waits for {external_id} in {external_system}")
            }
            (None, GateWait::Webhook) => {
                helps.push(help("anybody", "call its address, which this prints", format!("edgewise gate url {id}")));
                helps.push(help("anybody", "open it", format!("edgewise gate satisfy {id}")));
                format!("gate {id} waits until its address is called")
            }
        };
        let title = gate.title.clone().unwrap_or_default();
        Reason { id: id.clone().into(), title, standing: None, says, help: helps, because: Vec::new(), seen: false }
    }

    fn run(&self, n: u32) -> Reason {
        let slot = &self.work.runs[n as usize];
        let (says, helps) = match slot.state {
            Some(state) => (format!("run {} ended: {state:?}", slot.run), Vec::new()),
            None => {
                let more = help("a worker", "go on with it", format!("edgewise why {}", slot.run));
                (format!("run {} has not ended", slot.run), vec![more])
            }
        };
        let id = Target::run(slot.run);
        Reason { id, title: String::new(), standing: None, says, help: helps, because: Vec::new(), seen: false }
    }

    fn gate_of_run(&self, n: u32, path: &str) -> Reason {
        let slot = &self.work.runs[n as usize];
        let run = slot.run;
        let (says, helps) = match slot.gates.get(path) {
            Some(RunGateEnd::Open) => (format!("gate {path} of run {run} is open"), Vec::new()),
            Some(RunGateEnd::Rejected) => (format!("gate {path} of run {run} was rejected"), Vec::new()),
            Some(RunGateEnd::Missed) => (format!("run {run} went on without its gate {path}"), Vec::new()),
            None => {
                let more = help("anybody", "look who can open it", format!("edgewise why {run}/{path}"));
                (format!("gate {path} of run {run} is not open"), vec![more])
            }
        };
        let id = Target::gate_of(run, path).unwrap_or_else(|_| Target::run(run));
        Reason { id, title: String::new(), standing: None, says, help: helps, because: Vec::new(), seen: false }
    }

    fn stranger(&self, target: &Target) -> Reason {
        let says = format!("nobody here knows {target}");
        let id = target.clone();
        Reason { id, title: String::new(), standing: None, says, help: Vec::new(), because: Vec::new(), seen: false }
    }
}

fn help(who: &str, does: &str, command: String) -> Help {
    Help { who: who.into(), does: does.into(), command: Some(command) }
}
