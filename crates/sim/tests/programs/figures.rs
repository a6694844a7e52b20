//! Long loops and wide spreads: what they cost grows with their length, what they hold does not.

use edgewise_core::event::{
    DispatchEnqueued, Event, Failure, PlanCreated, RULES, Rerun, RerunFrom, RunAdvanced, RunTriggered, TaskFinished,
    TaskIx,
};
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::id::{EventId, RunId, Token};
use edgewise_core::run::{End, Run};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_sim::driver::name;
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A run without anybody who looks after every event: acts as an engine would, rows written now and then.
struct Long {
    run: Run,
    changes: Changes,
    ready: VecDeque<TaskIx>,
    events: u64,
    /// The most tasks that took memory at once.
    held: usize,
    /// The most rows of variables and outputs at once.
    kept: usize,
    /// Items that ended well since rows were last written.
    settled: Vec<TaskIx>,
}

impl Long {
    fn new(text: &str, items: u32) -> Self {
        let compiled = edgewise_core::text::compile(text, "test.flow").unwrap_or_else(|problems| panic!("{problems}"));
        let plan = compiled.into_iter().next().expect("a flow").plan;
        let (hash, _) = plan.encode();
        let run = Run::new(RunId(7), hash, Arc::new(plan));
        let (changes, ready) = (Changes::default(), VecDeque::new());
        let mut long = Self { run, changes, ready, events: 0, held: 0, kept: 0, settled: Vec::new() };
        let input = raw(&format!("{{\"n\":{items}}}"));
        let (flow, by, labels) = (name("t"), name("tester"), Default::default());
        long.say(&Event::RunTriggered(RunTriggered { flow, plan: hash, rules: RULES, input, by, key: None, labels }));
        long.say(&Event::PlanCreated(PlanCreated { plan: hash }));
        long
    }

    fn say(&mut self, event: &Event) {
        let now = Time(1_000_000);
        let stamp = Stamp { id: EventId::mint(now, 0, self.run.last), at: now };
        self.changes.clear();
        assert_eq!(fold(&mut self.run, stamp, event, &mut self.changes), Verdict::Applied, "{event:?}");
        self.ready.extend(&self.changes.ready);
        let moved = self.changes.moves.iter().map(|step| step.task);
        self.settled.extend(moved.filter(|task| self.run.is_settled(*task)));
        self.events += 1;
        if self.events.is_multiple_of(500) {
            self.held = self.held.max(self.run.tasks.held());
            self.kept = self.kept.max(self.run.outputs.len() + self.run.before.len() + self.run.composites.len());
            let over = std::mem::take(&mut self.run.over);
            self.run.release(over);
            for task in std::mem::take(&mut self.settled) {
                self.run.put_by(task);
            }
        }
    }

    fn play(&mut self) -> Duration {
        let took = self.play_failing(|_| false);
        assert_eq!(self.run.state, RunState::Complete);
        took
    }

    /// Plays to the end; these tasks fail for good.
    fn play_failing(&mut self, fails: impl Fn(TaskIx) -> bool) -> Duration {
        let began = Instant::now();
        loop {
            if let Some(task) = self.ready.pop_front() {
                let entry = self.run.tasks[task.0 as usize];
                let (generation, attempt, token) =
                    (entry.generation, entry.attempt + 1, Token(u128::from(task.0)).hash());
                self.say(&Event::DispatchEnqueued(DispatchEnqueued {
                    task,
                    generation,
                    attempt,
                    token,
                    worker: "w".into(),
                    lease: None,
                }));
                let error = fails(task).then(|| Failure::permanent("boom", "it broke"));
                let output = error.is_none().then(|| raw("1"));
                self.say(&Event::TaskFinished(TaskFinished { task, generation, attempt, token, output, error }));
            } else if self.run.is_advancing() {
                self.say(&Event::RunAdvanced(RunAdvanced {}));
            } else {
                return began.elapsed();
            }
        }
    }

    /// Has what failed done again; gives how long it took to open it.
    fn rerun(&mut self) -> Duration {
        assert_eq!(self.run.state, RunState::Error);
        let generation = self.run.generation;
        let rerun = Rerun { by: name("op"), why: None, from: RerunFrom::Failure, generation };
        let began = Instant::now();
        self.say(&Event::RunRerunRequested(rerun));
        began.elapsed()
    }
}

const LOOP: &str = "
flow t(n=0):
    total = 0
    for x in range(n):
        y = @work(v=x)
        total = total + y
    return total
";

const SPREAD: &str = "
flow t(n=0):
    ys = spread range(n):x -> @work(v=x)
    return sum(ys)
";

const STEPS: &str = "
flow t(n=0):
    ys = spread range(n):x -> steps(x)
    return sum(ys)

fn steps(x):
    a = @work(v=x)
    b = @work(v=a)
    c = @work(v=b)
    return c
";

fn played(text: &str, items: u32) -> (Long, Duration) {
    let mut long = Long::new(text, items);
    let took = long.play();
    assert_eq!(long.run.end, Some(End::Returned(Arc::new(items.into()))));
    (long, took)
}

#[test]
fn a_long_loop_holds_what_a_short_one_holds() {
    let (short, _) = played(LOOP, 2_000);
    let (long, _) = played(LOOP, 10_000);
    assert!(long.held <= 1_024 && long.held <= short.held + 256, "{} tasks held, {} before", long.held, short.held);
    assert!(long.kept <= 1_024, "{} outputs, variables and composites held", long.kept);
    assert_eq!(long.events, 2 + 2 * 10_000, "two events for each action");
}

#[test]
fn a_wide_spread_is_two_events_an_item_and_one_for_each_ten_thousand() {
    let (wide, _) = played(SPREAD, 25_000);
    assert_eq!(wide.events, 2 + 2 * 25_000 + 3, "the rest of a spread waits for the next commit");
}

#[test]
fn of_an_item_that_ended_well_a_spread_holds_its_state_and_its_output() {
    let mut wide = Long::new(STEPS, 2_000);
    // What began first is done first, as the engine's lines have it: all but the last few items end.
    let began = wide.ready.make_contiguous();
    began.sort_unstable();
    let last: Vec<TaskIx> = began[1_990..].to_vec();
    wide.ready.truncate(1_990);
    wide.play_failing(|_| false);
    let run = &wide.run;
    assert_eq!(run.counts[TaskState::Complete as usize], 1_990 * 4, "an item is a call of three steps");
    assert!(run.tasks.held() <= 2_001 + 1_024, "{} tasks held", run.tasks.held());
    assert!(run.composites.len() <= 1 + 300, "{} composites held", run.composites.len());
    assert!(run.outputs.len() <= 2_000 + 3 * 300, "{} outputs held", run.outputs.len());
    assert!(run.chains.len() <= 1 + 2 * 10 && run.before.len() <= 3 * 300, "chains and variables of what is at work");
    wide.ready.extend(last);
    wide.play();
    assert_eq!(wide.run.end, Some(End::Returned(Arc::new(2_000.into()))));
}

/// A run of 10,000 tasks of which so many failed.
fn failed(every: u32) -> Long {
    let mut long = Long::new(SPREAD, 10_000);
    long.play_failing(|task| task.0.is_multiple_of(every));
    long
}

#[test]
fn a_rerun_from_failure_is_one_event_and_two_for_each_task_that_failed() {
    for every in [1, 5_000] {
        let mut long = failed(every);
        let before = long.events;
        long.rerun();
        long.play();
        assert_eq!(long.events - before, 1 + 2 * u64::from(10_000 / every));
        assert_eq!(long.run.end, Some(End::Returned(Arc::new(10_000.into()))));
    }
}

#[test]
#[ignore = "times, which mean something only on a quiet machine and with optimisations"]
fn what_failed_of_ten_thousand_tasks_is_opened_in_a_moment() {
    for every in [1, 5_000] {
        let took = failed(every).rerun();
        println!("{} of 10,000 failed: opened in {took:?}", 10_000 / every);
        assert!(took < Duration::from_millis(100), "{took:?}");
    }
}

/// Timed, so it is for quiet machines: `cargo test --profile sim -p edgewise-sim --test programs -- --ignored --nocapture`.
#[test]
#[ignore = "times, which mean something only on a quiet machine and with optimisations"]
fn ten_times_the_items_take_about_ten_times_as_long() {
    for (called, text) in [("for", LOOP), ("spread", SPREAD)] {
        let ((short, before), (long, after)) = (played(text, 10_000), played(text, 100_000));
        let ratio = after.as_secs_f64() / before.as_secs_f64();
        println!("{called}: {before:?} held {}, then {after:?} held {}; {ratio:.1} times", short.held, long.held);
        assert!(ratio < 25.0, "{called} is not linear: {ratio:.1} times as long for ten times the items");
    }
}
