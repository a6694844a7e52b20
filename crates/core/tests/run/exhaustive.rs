//! Every small graph, every outcome, every order, every duplicate: nothing is left to luck here.
//!
//! The end is compared with an oracle that knows the model's sentences and nothing of the fold: what a task's
//! upstreams came to decides whether it runs, whatever the order in which they ended.

use crate::driver::{graph, name};
use edgewise_core::event::{DispatchEnqueued, Event, Failure, PlanCreated, RULES, RunTriggered, TaskFinished, TaskIx};
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::id::{EventId, RunId, Token};
use edgewise_core::invariant::{self, Step};
use edgewise_core::plan::{Accepts, Join, OnFailure, Plan, Resolution};
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use serde_json::value::RawValue;
use std::sync::Arc;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const SETS: [Accepts; 4] =
    [Accepts::SUCCESS, Accepts::of(Resolution::Failed), Accepts::DONE, Accepts::of(Resolution::Skipped)];

/// A small graph as the oracle sees it.
#[derive(Clone)]
struct Graph {
    joins: Vec<Join>,
    edges: Vec<(u32, u32, Accepts)>,
}

#[derive(Default, Debug, PartialEq, Eq)]
struct Count {
    graphs: u64,
    events: u64,
    duplicates: u64,
    ends: u64,
}

/// All edge sets over `n` labelled nodes that have no cycle.
fn dags(n: u32) -> Vec<Vec<(u32, u32)>> {
    let pairs: Vec<(u32, u32)> = (0..n).flat_map(|u| (0..n).map(move |d| (u, d))).filter(|(u, d)| u != d).collect();
    let chosen = |mask: u32| pairs.iter().enumerate().filter(move |(i, _)| mask >> i & 1 == 1).map(|(_, p)| *p);
    (0..1u32 << pairs.len()).map(|mask| chosen(mask).collect()).filter(|edges: &Vec<_>| is_acyclic(n, edges)).collect()
}

fn is_acyclic(n: u32, edges: &[(u32, u32)]) -> bool {
    let mut left: Vec<u32> = (0..n).collect();
    while let Some(at) = left.iter().position(|node| !edges.iter().any(|(u, d)| d == node && left.contains(u))) {
        left.remove(at);
    }
    left.is_empty()
}

/// What the model says each task comes to, if it ends so once it runs.
fn oracle(graph: &Graph, fails: impl Fn(usize) -> bool) -> (Vec<TaskState>, RunState) {
    let n = graph.joins.len();
    let mut states: Vec<Option<TaskState>> = vec![None; n];
    while let Some(task) = (0..n).find(|t| states[*t].is_none() && decision(graph, &states, *t).is_some()) {
        states[task] = Some(match decision(graph, &states, task) {
            Some(true) if fails(task) => TaskState::Error,
            Some(true) => TaskState::Complete,
            _ => TaskState::Skipped,
        });
    }
    let states: Vec<TaskState> = states.into_iter().map(Option::unwrap).collect();
    let answered = |task: usize| {
        graph.edges.iter().any(|(up, down, accepts)| {
            let wants = accepts.contains(Resolution::Failed) && !accepts.contains(Resolution::Success);
            let ran = states[*down as usize] != TaskState::Skipped;
            *up as usize == task && ran && (wants || graph.joins[*down as usize] != Join::All)
        })
    };
    let failed = (0..n).any(|t| states[t] == TaskState::Error && !answered(t));
    (states, if failed { RunState::Error } else { RunState::Complete })
}

/// Whether a task runs, once that is certain.
fn decision(graph: &Graph, states: &[Option<TaskState>], task: usize) -> Option<bool> {
    let ins: Vec<_> = graph.edges.iter().filter(|(_, down, _)| *down as usize == task).collect();
    let needed = if graph.joins[task] == Join::All { ins.len() } else { ins.len().min(1) };
    let answers = ins.iter().map(|(up, _, accepts)| {
        states[*up as usize].map(|state| {
            accepts.contains(match state {
                TaskState::Complete => Resolution::Success,
                TaskState::Error => Resolution::Failed,
                _ => Resolution::Skipped,
            })
        })
    });
    let (yes, no) =
        answers.fold((0, 0), |(y, n), a| (y + usize::from(a == Some(true)), n + usize::from(a == Some(false))));
    if yes >= needed {
        Some(true)
    } else if ins.len() - no < needed {
        Some(false)
    } else {
        None
    }
}

/// One way through: the run, and everything said so far.
#[derive(Clone)]
struct Way {
    run: Run,
    said: Vec<Event>,
    fails: Vec<bool>,
}

impl Way {
    fn new(plan: Plan) -> Self {
        let nodes = plan.root().len() as usize;
        let (hash, _) = plan.encode();
        let run = Run::new(RunId(1), hash, Arc::new(plan));
        Self { run, said: Vec::new(), fails: vec![false; nodes] }
    }

    fn say(&mut self, event: Event, count: &mut Count) {
        count.events += 1;
        let before = self.run.clone();
        let stamp = stamp(&self.run);
        let mut changes = Changes::default();
        let verdict = fold(&mut self.run, stamp, &event, &mut changes);
        assert_eq!(verdict, Verdict::Applied, "{event:?}");
        let step = Step { before: &before, stamp, event: &event, changes: &changes, verdict, after: &self.run };
        let held = invariant::check_step(&step).and_then(|()| invariant::check_state(&self.run));
        held.unwrap_or_else(|violation| panic!("{violation} after {:?} and {event:?}", self.said));
        self.said.push(event);
        self.say_each_again(count);
    }

    /// Every event so far, said a second time here, changes nothing but the place in the stream.
    fn say_each_again(&self, count: &mut Count) {
        for event in &self.said {
            let mut again = self.run.clone();
            let mut changes = Changes::default();
            let verdict = fold(&mut again, stamp(&self.run), event, &mut changes);
            assert!(matches!(verdict, Verdict::Ignored(_)), "{event:?} after {:?}", self.said);
            (again.seq, again.last) = (self.run.seq, self.run.last);
            assert!(again == self.run, "{event:?} said again changed the run after {:?}", self.said);
            count.duplicates += 1;
        }
    }

    fn begin(&mut self, count: &mut Count) {
        let plan = self.run.plan_hash;
        let input = RawValue::from_string("null".into()).unwrap();
        let (flow, by) = (name("test"), name("tester"));
        let triggered = RunTriggered { flow, plan, rules: RULES, input, by, key: None, labels: Default::default() };
        self.say(Event::RunTriggered(triggered), count);
        self.say(Event::PlanCreated(PlanCreated { plan }), count);
    }

    fn run_one(&mut self, task: TaskIx, fails: bool, count: &mut Count) {
        let token = Token(u128::from(task.0) + 1).hash();
        let (generation, attempt) = (1, 1);
        let lease = DispatchEnqueued { task, generation, attempt, token, worker: "w".into(), lease: None };
        self.say(Event::DispatchEnqueued(lease), count);
        let error = fails.then(|| Failure::new("boom", "it broke"));
        self.say(Event::TaskFinished(TaskFinished { task, generation, attempt, token, output: None, error }), count);
        self.fails[task.0 as usize] = fails;
    }
}

fn stamp(run: &Run) -> Stamp {
    let at = Time(1_000 + run.seq);
    Stamp { id: EventId::mint(at, 0, run.last), at }
}

/// Takes every way from here: each ready task next, and each of its outcomes.
fn explore(way: &Way, graph: &Graph, count: &mut Count) {
    let ready: Vec<TaskIx> =
        (0..way.run.total()).map(TaskIx).filter(|t| way.run.tasks[t.0 as usize].state == TaskState::Enqueued).collect();
    if ready.is_empty() {
        count.ends += 1;
        let states: Vec<TaskState> = way.run.tasks.iter().map(|t| t.state).collect();
        let found = (states, way.run.state);
        assert_eq!(found, oracle(graph, |t| way.fails[t]), "{:?} after {:?}", graph.edges, way.said);
    }
    for task in ready {
        for fails in [false, true] {
            let mut next = way.clone();
            next.run_one(task, fails, count);
            explore(&next, graph, count);
        }
    }
}

fn explore_all(graphs: impl Iterator<Item = Graph>) -> Count {
    let mut count = Count::default();
    for small in graphs {
        count.graphs += 1;
        let nodes: Vec<_> = NAMES.into_iter().zip(small.joins.iter().copied()).collect();
        let mut way = Way::new(graph(&nodes, &small.edges, OnFailure::Continue));
        way.begin(&mut count);
        explore(&way, &small, &mut count);
    }
    count
}

fn plain(n: u32) -> impl Iterator<Item = Graph> {
    dags(n).into_iter().map(move |edges| Graph {
        joins: vec![Join::All; n as usize],
        edges: edges.into_iter().map(|(u, d)| (u, d, Accepts::SUCCESS)).collect(),
    })
}

/// Every choice of one of `of` for each of `n` places.
fn choices<T: Copy>(of: &[T], n: usize) -> Vec<Vec<T>> {
    (0..n).fold(vec![Vec::new()], |all, _| {
        all.iter().flat_map(|one| of.iter().map(move |t| [one.as_slice(), &[*t]].concat())).collect()
    })
}

fn with_sets_and_joins(n: u32) -> impl Iterator<Item = Graph> {
    dags(n).into_iter().flat_map(move |edges| {
        let joined: Vec<u32> = (0..n).filter(|node| edges.iter().any(|(_, d)| d == node)).collect();
        let sets = choices(&SETS, edges.len());
        let joins = choices(&[Join::All, Join::Any], joined.len());
        let pairs =
            sets.into_iter().flat_map(move |set| joins.clone().into_iter().map(move |join| (set.clone(), join)));
        pairs.map(move |(set, join)| {
            let mut all = vec![Join::All; n as usize];
            for (node, join) in joined.iter().zip(join) {
                all[*node as usize] = join;
            }
            let edges = edges.iter().zip(set).map(|((u, d), accepts)| (*u, *d, accepts)).collect();
            Graph { joins: all, edges }
        })
    })
}

#[test]
fn every_graph_of_up_to_three_tasks_ends_as_the_model_says_in_every_order() {
    assert_eq!(explore_all((1..=3).flat_map(plain)), Count { graphs: 29, events: 894, duplicates: 5_077, ends: 265 });
}

#[test]
fn every_graph_of_four_tasks_ends_as_the_model_says_in_every_order() {
    assert_eq!(explore_all(plain(4)), Count { graphs: 543, events: 35_678, duplicates: 260_365, ends: 10_432 });
}

#[test]
fn every_graph_of_three_tasks_with_every_accepted_set_and_join_ends_as_the_model_says() {
    let expected = Count { graphs: 2_257, events: 47_486, duplicates: 255_573, ends: 13_776 };
    assert_eq!(explore_all(with_sets_and_joins(3)), expected);
}
