//! The work graph in a storm: in some seeds people and agents add, link, claim, move and close at random, also what is
//! not there or must be refused; some of it with a key, so that they can ask again until they are answered.

use super::Storm;
use crate::driver::name;
use crate::plans::{PEOPLE, SHARED, has_shared_gates};
use crate::violation::Held;
use crate::witness::mark;
use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{
    Act, Add, Change, Close, CloseOp, Depend, DependencyKind, Filter, GateWait, ItemId, ItemKind, Op, Phase, ReopenOp,
    Status, When,
};
use edgewise_engine::command::Command;
use edgewise_engine::work::Ops;
use serde_json::json;

/// Items that are there at once, about.
const ITEMS: usize = 14;

impl Storm {
    /// Somebody asks something of the work graph, now and then once more what they asked before.
    pub(super) fn work(&mut self) {
        if has_shared_gates(self.seed) && self.witness.work.state.gate(SHARED).is_none() {
            return self.make_the_shared_gate();
        }
        let again = &self.witness.work.again;
        if !again.is_empty() && self.dice.one_in(4) {
            let mut ops = again[self.dice.below(again.len() as u64) as usize].clone();
            if self.dice.one_in(8) {
                ops.by = name("eve");
            }
            return self.ask(Command::Work(ops));
        }
        let key = self.dice.one_in(2).then(|| format!("w{}", self.next));
        let count = if self.dice.one_in(4) { 2 + self.dice.below(2) } else { 1 };
        let mark = |n: usize| key.as_deref().map(|key| mark(key, n));
        let ops = (0..count as usize).map(|n| self.an_op(mark(n))).collect();
        let by = self.somebody();
        self.ask(Command::Work(Ops { ops, by, key }));
    }

    fn make_the_shared_gate(&mut self) {
        let wait = GateWait::External { external_system: "ci".into(), external_id: "1".into() };
        let id = ItemId::parse(SHARED).ok();
        let make = Op::MakeGate { wait, title: None, id, name: None, approvals: vec![] };
        self.ask(Command::Work(Ops { ops: vec![make], by: name("ann"), key: None }));
    }

    fn somebody(&mut self) -> Name {
        name(PEOPLE[self.dice.below(3) as usize])
    }

    fn an_op(&mut self, why: Option<String>) -> Op {
        let id = self.an_item();
        match self.dice.below(38) {
            0..=5 => self.an_add(why),
            6..=14 => self.a_link(id, why),
            15 => {
                let on = self.what_it_waits_for(&id);
                Op::Undepend { id, on, kind: None }
            }
            16..=20 => self.a_close(id, why),
            21 => Op::Reopen(ReopenOp { id, force: true, why }),
            22 if self.dice.one_in(2) => Op::Delete(Act { id, why }),
            22..=24 => {
                let parent = (!self.dice.one_in(4)).then(|| self.an_item());
                Op::Move { id, parent }
            }
            25 | 26 => Op::Claim { id, lease: self.a_lease() },
            27 | 28 => Op::ClaimNext { filter: Box::new(Filter::default()), lease: self.a_lease() },
            29 | 30 => self.with_a_token(id),
            31 => Op::MakeGate { wait: self.a_wait(), title: why, id: None, name: None, approvals: vec![] },
            32..=35 => self.at_a_gate(why),
            _ => Op::Update { id, change: Box::new(self.a_change(why)) },
        }
    }

    /// Mostly an item that is there; now and then one that is not yet.
    fn an_item(&mut self) -> String {
        let alive = self.witness.work.state.items().filter(|item| item.status != Status::Tombstone);
        let alive: Vec<&ItemId> = alive.map(|item| &item.id).collect();
        match self.dice.index(alive.len()).filter(|_| !self.dice.one_in(8)) {
            Some(at) => alive[at].to_string(),
            None => self.one_to_come(),
        }
    }

    fn one_to_come(&mut self) -> String {
        format!("ew-{}", self.witness.work.state.len() as u64 + self.dice.below(3))
    }

    fn an_add(&mut self, why: Option<String>) -> Op {
        let alive = self.witness.work.state.items().filter(|item| !item.status.is_over()).count();
        if alive >= ITEMS {
            let id = self.an_item();
            return self.a_close(id, why);
        }
        let kind =
            *self.dice.pick(&[ItemKind::Task, ItemKind::Task, ItemKind::Task, ItemKind::Plan, ItemKind::Instance]);
        let gone = kind == ItemKind::Instance && self.dice.one_in(2);
        let add = Add {
            title: why.unwrap_or_else(|| "something".into()),
            id: (!self.dice.one_in(3)).then(|| self.one_to_come()).and_then(|id| ItemId::parse(&id).ok()),
            kind,
            phase: (kind == ItemKind::Plan && self.dice.one_in(3)).then_some(Phase::Draft),
            priority: Some(1 + self.dice.below(5) as u8),
            auto_complete: self.dice.one_in(3),
            ephemeral: gone.then_some(Millis(40_000)),
            parent: self.dice.one_in(4).then(|| self.an_item()),
            needs: if self.dice.one_in(4) { vec![self.an_item()] } else { Vec::new() },
            ..Add::default()
        };
        Op::Add(Box::new(add))
    }

    fn a_link(&mut self, id: String, mark: Option<String>) -> Op {
        let (mut gate, mut on) = (None, None);
        let kind = match self.dice.below(9) {
            0..=3 => DependencyKind::Blocks,
            4 | 5 => DependencyKind::ParentChild,
            6 => DependencyKind::RelatesTo,
            _ => DependencyKind::Awaits,
        };
        if kind != DependencyKind::Awaits {
            on = Some(self.an_item());
        } else if let Some(run) = self.a_run_to_await() {
            on = Some(run);
        } else if let Some(known) = self.a_gate_of_items().filter(|_| self.dice.one_in(2)) {
            on = Some(known);
        } else {
            gate = Some(self.a_wait());
        }
        let when = *self.dice.pick(&[When::Success, When::Success, When::Any, When::Failure]);
        let metadata = mark.map(|mark| json!({ "mark": mark }));
        Op::Depend(Box::new(Depend { id, on, kind: Some(kind), when, gate, metadata }))
    }

    fn a_run_to_await(&mut self) -> Option<String> {
        let runs: Vec<String> = self.witness.books.keys().map(ToString::to_string).collect();
        let run = self.dice.index(runs.len()).filter(|_| self.dice.one_in(2)).map(|at| runs[at].clone())?;
        Some(self.a_gate_of(&run).map_or(run.clone(), |gate| format!("{run}/{gate}")))
    }

    /// In storms with such, a gate of a run that an item can wait for.
    fn a_gate_of(&mut self, run: &str) -> Option<String> {
        if !has_shared_gates(self.seed) || self.dice.one_in(4) {
            return None;
        }
        let run = &self.witness.books.iter().find(|(id, _)| id.to_string() == run)?.1.run;
        let gates: Vec<String> = run.present().filter(|task| run.is_gate(*task)).map(|task| run.path(task)).collect();
        self.dice.index(gates.len()).map(|at| gates[at].clone())
    }

    fn what_it_waits_for(&mut self, id: &str) -> Option<String> {
        let on: Vec<String> =
            self.witness.work.state.dependencies_of(id).iter().map(|known| known.target.to_string()).collect();
        self.dice.index(on.len()).map(|at| on[at].clone())
    }

    fn a_close(&mut self, id: String, why: Option<String>) -> Op {
        let how = *self.dice.pick(&[Close::Done, Close::Done, Close::Done, Close::Failed, Close::Cancelled]);
        let token =
            self.witness.work.tokens.iter().rev().find(|(known, _)| known.as_str() == id).map(|(_, token)| *token);
        let token = token.filter(|_| self.dice.one_in(2));
        Op::Close(CloseOp { id, how, force: self.dice.one_in(2), token, why })
    }

    fn a_lease(&mut self) -> Millis {
        Millis(1_000 + self.dice.below(40_000))
    }

    /// Whoever was given something extends it, or gives it back; also what they have lost since.
    fn with_a_token(&mut self, id: String) -> Op {
        let (lease, tokens) = (self.a_lease(), &self.witness.work.tokens);
        let Some(at) = self.dice.index(tokens.len()) else { return Op::Release { id, token: None } };
        let (id, token) = (tokens[at].0.to_string(), tokens[at].1);
        match self.dice.one_in(2) {
            true => Op::Extend { id, token, lease },
            false => Op::Release { id, token: Some(token) },
        }
    }

    fn a_gate_of_items(&mut self) -> Option<String> {
        let gates: Vec<String> = self.witness.work.state.gates().map(|gate| gate.id.to_string()).collect();
        self.dice.index(gates.len()).map(|at| gates[at].clone())
    }

    fn a_wait(&mut self) -> GateWait {
        match self.dice.below(4) {
            0 | 1 => GateWait::Timer { wait_until: Time(self.now.0 + self.dice.below(60_000)) },
            2 => GateWait::Approval { required_approvers: vec![name("ann"), name("bob")], approval_count: None },
            _ => GateWait::External { external_system: "ci".into(), external_id: "1".into() },
        }
    }

    fn at_a_gate(&mut self, why: Option<String>) -> Op {
        let waiting = self.witness.work.state.gates().filter(|gate| gate.ended.is_none());
        let gates: Vec<(String, bool)> =
            waiting.map(|g| (g.id.to_string(), matches!(g.wait, GateWait::Approval { .. }))).collect();
        let (id, people) = self.dice.index(gates.len()).map_or(("nothing".into(), false), |at| gates[at].clone());
        let act = Act { id, why };
        match (people, self.dice.below(12)) {
            (_, 0) => Op::Reject(act),
            (true, 1..=7) => Op::Approve(act),
            (true, 8..=10) => Op::Withdraw(act),
            (false, 1..=4) => Op::Deliver { id: act.id, evidence: json!({ "passed": true }) },
            _ => Op::Satisfy(act),
        }
    }

    fn a_change(&mut self, title: Option<String>) -> Change {
        let mut change = Change { title, priority: Some(1 + self.dice.below(5) as u8), ..Change::default() };
        match self.dice.below(4) {
            0 => change.status = Some(*self.dice.pick(&[Status::Open, Status::Deferred, Status::Review])),
            1 => change.scheduled_for = Some(Some(Time(self.now.0 + self.dice.below(30_000)))),
            _ => {}
        }
        change
    }

    /// After the storm: whoever is asked by a run to do something does it.
    pub(super) fn close_items_of_tasks(&mut self) {
        let of_task = |item: &&edgewise_core::work::Item| !item.status.is_over() && item.waiter.is_some();
        let open: Vec<String> =
            self.witness.work.state.items().filter(of_task).map(|item| item.id.to_string()).collect();
        for id in open {
            let close = CloseOp { id, force: true, ..CloseOp::default() };
            self.ask(Command::Work(Ops { ops: vec![Op::Close(close)], by: name("ann"), key: None }));
        }
    }

    /// After the storm: what tasks of runs wait for happens.
    pub(super) fn open_gates_of_tasks(&mut self) {
        let waited = self.witness.work.state.gates().filter(|gate| gate.ended.is_none() && !gate.tasks.is_empty());
        for id in waited.map(|gate| gate.id.to_string()).collect::<Vec<_>>() {
            let open = Op::Satisfy(Act { id, why: None });
            self.ask(Command::Work(Ops { ops: vec![open], by: name("ann"), key: None }));
        }
    }

    /// What an engine has of the work graph is what the ledger says.
    pub(super) fn compare_work(&mut self, o: usize) -> Held {
        let Some(work) = self.orchestrators[o].work_at_hand() else { return Ok(()) };
        self.witness.work.engine_agrees(&self.orchestrators[o].source, work)
    }
}
