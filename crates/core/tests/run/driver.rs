//! A run under test: a plan in a few words, and acts that write the events an engine would write.

use edgewise_core::event::{
    Approved, AttemptRef, DispatchEnqueued, Event, Failure, PlanCreated, RULES, Request, Rerun, RerunFrom, RunAdvanced,
    RunTriggered, TaskAct, TaskCompletedManually, TaskFinished, TaskIx,
};
use edgewise_core::fold::{Changes, Ignored, Refusal, Stamp, Verdict, fold};
use edgewise_core::gate::{Gate, Wait};
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::{EventId, RunId, Token};
use edgewise_core::invariant::{self, Step};
use edgewise_core::name::Name;
use edgewise_core::plan::{
    Accepts, Items, Join, OnFailure, Plan, PlanDraft, RegionDraft, Spec, Spread, Timeouts, Work,
};
use edgewise_core::retry::Retry;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::Template;
use edgewise_core::time::Time;
use serde_json::value::RawValue;
use std::sync::Arc;

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A spec for an action, with so many attempts.
pub fn action(max_attempts: u16) -> Spec {
    Spec {
        when: None,
        work: Work::Action { action: name("noop"), with: Template::default() },
        retry: Retry { max_attempts, jitter_percent: 0, ..Retry::default() },
        timeouts: Timeouts::default(),
        share: Default::default(),
        publish: Vec::new(),
    }
}

/// A spec for a gate that waits without end.
pub fn gate(wait: Wait) -> Spec {
    work(Work::Gate(Gate::new(wait)))
}

/// A spec for a gate that people open.
pub fn approval(from: &[&str], count: u32) -> Spec {
    gate(Wait::Approval { from: from.iter().map(|p| name(p)).collect(), count })
}

/// A spec for a spread of a region over so many items.
pub fn spread(region: u32, items: usize) -> Spec {
    spread_bearing(region, items, 0, false)
}

/// A spec for a spread that bears so many failures, and stops at the first one beyond if told so.
pub fn spread_bearing(region: u32, items: usize, tolerate: u32, fail_fast: bool) -> Spec {
    let items = Items::Literal((0..items).map(Into::into).collect());
    work(Work::Spread(Spread { region, items, tolerate, fail_fast }))
}

pub fn work(work: Work) -> Spec {
    Spec { work, ..action(1) }
}

/// A plan drawn node by node; every node has its own spec.
pub struct Sketch(PlanDraft);

impl Sketch {
    pub fn new(on_failure: OnFailure) -> Self {
        Self(PlanDraft { on_failure, regions: vec![RegionDraft::default()], ..PlanDraft::default() })
    }

    /// Another region, for a spread.
    pub fn region(&mut self) -> u32 {
        self.0.regions.push(RegionDraft::default());
        self.0.regions.len() as u32 - 1
    }

    /// A node of a region that needs others of it to succeed.
    pub fn node(&mut self, region: u32, name: &str, spec: Spec, after: &[u32]) -> u32 {
        self.0.specs.push(spec);
        let node = self.0.regions[region as usize].node(name, self.0.specs.len() as u32 - 1, Join::All);
        for up in after {
            self.edge(region, *up, node, Accepts::SUCCESS);
        }
        node
    }

    pub fn edge(&mut self, region: u32, up: u32, down: u32, accepts: Accepts) {
        self.0.regions[region as usize].edge(up, down, accepts);
    }

    pub fn build(self) -> Plan {
        self.0.build(name("test")).unwrap()
    }
}

/// A plan of actions with one attempt each: (name, join), and (up, down, accepts) for each edge.
pub fn graph(nodes: &[(&str, Join)], edges: &[(u32, u32, Accepts)], on_failure: OnFailure) -> Plan {
    let nodes: Vec<_> = nodes.iter().map(|(name, join)| (*name, action(1), *join)).collect();
    plan(&nodes, edges, on_failure)
}

/// A plan of one region: (name, spec) for each node, (up, down, accepts) for each edge.
pub fn plan(nodes: &[(&str, Spec, Join)], edges: &[(u32, u32, Accepts)], on_failure: OnFailure) -> Plan {
    let mut draft = PlanDraft { on_failure, ..PlanDraft::default() };
    let mut region = RegionDraft::default();
    for (node, spec, join) in nodes {
        draft.specs.push(spec.clone());
        region.node(node, draft.specs.len() as u32 - 1, *join);
    }
    for (up, down, accepts) in edges {
        region.edge(*up, *down, *accepts);
    }
    draft.regions.push(region);
    draft.build(name("test")).unwrap()
}

/// How much is checked after every event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Every invariant over states and steps.
    All,
    /// Nothing: for runs too large to be looked at as a whole each time.
    Nothing,
}

/// A run, its clock, and every event it was given.
#[derive(Clone)]
pub struct Driver {
    pub run: Run,
    pub now: Time,
    pub ledger: Vec<Entry>,
    /// What the last event changed.
    pub changes: Changes,
    pub watch: Watch,
}

impl Driver {
    /// A run that is triggered but not planned.
    pub fn triggered(plan: Plan) -> Self {
        Self::triggered_watching(plan, Watch::All)
    }

    pub fn triggered_watching(plan: Plan, watch: Watch) -> Self {
        let (hash, _) = plan.encode();
        let run = Run::new(RunId(7), hash, Arc::new(plan));
        let mut driver = Self { run, now: Time(1_000_000), ledger: Vec::new(), changes: Changes::default(), watch };
        let triggered = RunTriggered {
            flow: name("test"),
            plan: hash,
            rules: RULES,
            input: RawValue::from_string(r#"{"list":[1,2,3]}"#.into()).unwrap(),
            by: name("tester"),
            key: None,
            labels: Default::default(),
        };
        assert_eq!(driver.say(Event::RunTriggered(triggered)), Verdict::Applied);
        driver
    }

    /// A run whose roots are ready.
    pub fn planned(plan: Plan) -> Self {
        let mut driver = Self::triggered(plan);
        assert_eq!(driver.plan_it(), Verdict::Applied);
        driver
    }

    pub fn plan_it(&mut self) -> Verdict {
        self.say(Event::PlanCreated(PlanCreated { plan: self.run.plan_hash }))
    }

    /// Folds an event as the ledger would: it is kept whatever its verdict.
    pub fn say(&mut self, event: Event) -> Verdict {
        let stamp = Stamp { id: EventId::mint(self.now, 0, self.run.last), at: self.now };
        let before = (self.watch == Watch::All).then(|| self.run.clone());
        self.changes.clear();
        let verdict = fold(&mut self.run, stamp, &event, &mut self.changes);
        if let Some(before) = before {
            self.look(&before, stamp, &event, verdict);
        }
        let seq = self.ledger.len() as u64 + 1;
        self.ledger.push(Entry { seq, stamp, source: "test".into(), event });
        verdict
    }

    fn look(&self, before: &Run, stamp: Stamp, event: &Event, verdict: Verdict) {
        let step = Step { before, stamp, event, changes: &self.changes, verdict, after: &self.run };
        let held = invariant::check_step(&step).and_then(|()| invariant::check_state(&self.run));
        if let Err(violation) = held {
            panic!("{violation}\nat {event:?}\nwith {:?}", self.run.tasks);
        }
    }

    /// The stream as it would be read back.
    pub fn stream(&self) -> Stream<'_> {
        let (run, plan_hash, plan) = (self.run.id, self.run.plan_hash, &self.run.plan);
        Stream { run, plan_hash, plan, entries: &self.ledger }
    }

    /// What can only be said of the whole stream.
    pub fn close(&self) {
        invariant::check_stream(&self.stream()).unwrap_or_else(|violation| panic!("{violation}"));
        assert_eq!(self.stream().refold(u64::MAX), self.run, "refolding the stream gives the run");
    }

    pub fn ix(&self, path: &str) -> TaskIx {
        self.run.find(path).unwrap_or_else(|| panic!("no task {path}"))
    }

    pub fn state(&self, path: &str) -> TaskState {
        self.run.tasks[self.ix(path).0 as usize].state
    }

    /// A token that no other grant has had.
    fn fresh_token(&self) -> Token {
        Token(1 + self.ledger.len() as u128)
    }

    pub fn lease(&mut self, task: TaskIx) -> Verdict {
        let entry = self.run.tasks[task.0 as usize];
        let attempt = entry.attempt + 1;
        let token = self.fresh_token().hash();
        let generation = entry.generation;
        self.say(Event::DispatchEnqueued(DispatchEnqueued {
            task,
            generation,
            attempt,
            token,
            worker: "w".into(),
            lease: None,
        }))
    }

    /// What the worker of the current attempt would report.
    pub fn report(&self, task: TaskIx, error: Option<Failure>, output: Option<&str>) -> TaskFinished {
        let entry = self.run.tasks[task.0 as usize];
        let output = output.map(|text| RawValue::from_string(text.into()).unwrap());
        TaskFinished { task, generation: entry.generation, attempt: entry.attempt, token: entry.token, output, error }
    }

    pub fn ok(&mut self, path: &str) {
        let task = self.ix(path);
        assert_eq!(self.lease(task), Verdict::Applied, "lease of {path}");
        let report = self.report(task, None, None);
        assert_eq!(self.say(Event::TaskFinished(report)), Verdict::Applied, "finish of {path}");
    }

    pub fn ok_with(&mut self, path: &str, output: &str) {
        let task = self.ix(path);
        assert_eq!(self.lease(task), Verdict::Applied, "lease of {path}");
        let report = self.report(task, None, Some(output));
        assert_eq!(self.say(Event::TaskFinished(report)), Verdict::Applied, "finish of {path}");
    }

    pub fn fail(&mut self, path: &str) {
        let task = self.ix(path);
        assert_eq!(self.lease(task), Verdict::Applied, "lease of {path}");
        let report = self.report(task, Some(Failure::new("boom", "it broke")), None);
        assert_eq!(self.say(Event::TaskFinished(report)), Verdict::Applied, "finish of {path}");
    }

    /// Fires the earliest timer at its instant.
    pub fn fire_next(&mut self) -> Verdict {
        let (timer, due) = self.run.timers.iter().min_by_key(|(_, due)| **due).map(|(k, d)| (*k, *d)).unwrap();
        self.now = self.now.max(due);
        let event = self.run.fired(timer, due);
        self.say(event)
    }

    pub fn cancel(&mut self) -> Verdict {
        self.say(Event::RunCancelRequested(Request { by: name("op"), why: None }))
    }

    pub fn approve(&mut self, path: &str, by: &str) -> Verdict {
        let task = self.ix(path);
        let generation = self.run.tasks[task.0 as usize].generation;
        self.say(Event::ApprovalGiven(Approved { task, generation, by: name(by), comment: None }))
    }

    pub fn act(&self, path: &str) -> TaskAct {
        let task = self.ix(path);
        TaskAct { task, generation: self.run.tasks[task.0 as usize].generation, by: name("op"), why: None }
    }

    pub fn advance(&mut self) -> Verdict {
        self.say(Event::RunAdvanced(RunAdvanced {}))
    }

    pub fn reset(&mut self, path: &str) -> Verdict {
        let act = self.act(path);
        self.say(Event::TaskResetForRetry(act))
    }

    pub fn resolve(&mut self, path: &str) -> Verdict {
        let act = self.act(path);
        self.say(Event::TaskResolvedManually(act))
    }

    pub fn complete(&mut self, path: &str, output: &str) -> Verdict {
        let (act, output) = (self.act(path), RawValue::from_string(output.into()).unwrap());
        self.say(Event::TaskCompletedManually(TaskCompletedManually { act, output }))
    }

    pub fn skip(&mut self, path: &str) -> Verdict {
        let act = self.act(path);
        self.say(Event::TaskSkipRequested(act))
    }

    pub fn cancel_task(&mut self, path: &str) -> Verdict {
        let act = self.act(path);
        self.say(Event::TaskCancelRequested(act))
    }

    pub fn resolve_run(&mut self) -> Verdict {
        self.say(Event::RunResolvedManually(Request { by: name("op"), why: None }))
    }

    pub fn rerun(&mut self, from: RerunFrom) -> Verdict {
        let generation = self.run.generation;
        self.say(Event::RunRerunRequested(Rerun { by: name("op"), why: None, from, generation }))
    }

    pub fn rerun_task(&mut self, path: &str) -> Verdict {
        let task = self.ix(path);
        let generation = self.run.tasks[task.0 as usize].generation;
        self.rerun(RerunFrom::Task { task, generation })
    }

    /// The states of several tasks, in their order.
    pub fn states(&self, paths: &[&str]) -> Vec<TaskState> {
        paths.iter().map(|p| self.state(p)).collect()
    }

    /// The lease that a task has or had last.
    pub fn lease_of(&self, path: &str) -> AttemptRef {
        let task = self.ix(path);
        let entry = self.run.tasks[task.0 as usize];
        AttemptRef { task, generation: entry.generation, attempt: entry.attempt, token: entry.token }
    }

    pub fn is(&self, state: RunState) {
        assert_eq!(self.run.state, state);
    }
}

pub const STALE: Verdict = Verdict::Ignored(Ignored::Stale);
pub const DUPLICATE: Verdict = Verdict::Ignored(Ignored::Duplicate);

/// What is refused for a reason.
pub fn refused(why: &str) -> Verdict {
    let refusal = Refusal::ALL.into_iter().find(|refusal| refusal.why == why);
    Verdict::Ignored(Ignored::Refused(refusal.unwrap_or_else(|| panic!("nothing is refused because {why:?}"))))
}

/// What becomes of an event, as tables have it: the state it leads to, or why it changes nothing.
pub fn told<S: std::fmt::Debug>(verdict: Verdict, after: S) -> String {
    match verdict {
        Verdict::Applied => format!("{after:?}"),
        Verdict::Ignored(Ignored::Duplicate) => "duplicate".into(),
        Verdict::Ignored(Ignored::Stale) => "stale".into(),
        Verdict::Ignored(Ignored::Unknown) => "unknown".into(),
        Verdict::Ignored(Ignored::Early) => "early".into(),
        Verdict::Ignored(Ignored::Denied) => "denied".into(),
        Verdict::Ignored(Ignored::Refused(refusal)) => refusal.code.into(),
        Verdict::Overflow(_) => "overflow".into(),
    }
}

/// Holds what happened against a table, line by line.
pub fn check_table<const N: usize>(table: &[(&str, [&str; N])], mut row: impl FnMut(&str) -> Vec<String>) {
    let line = |name: &str, cells: &[String]| format!("{name}: {}", cells.join(", "));
    let wanted: Vec<String> = table.iter().map(|(name, cells)| line(name, &cells.map(str::to_owned))).collect();
    let found: Vec<String> = table.iter().map(|(name, _)| line(name, &row(name))).collect();
    assert_eq!(found, wanted, "found\n{}", found.join("\n"));
}
