//! Runs as they are seen, from flows and the facts about them.

use super::*;
use crate::live::draw;
use crate::style::Style;
use edgewise_core::event::{
    Approved, DispatchEnqueued, Event, Failure, PlanCreated, RULES, Request, RunTriggered, TaskFinished,
};
use edgewise_core::flow::compile_file;
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::id::{EventId, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A run that facts are told to, one a second.
struct Told {
    run: Run,
    at: Time,
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

impl Told {
    fn of(flow: &str) -> Self {
        let flows = compile_file(flow, "test").unwrap_or_else(|problems| panic!("{problems}"));
        let plan = flows.into_iter().next().unwrap().plan;
        let (hash, _) = plan.encode();
        let run = Run::new(RunId::parse("k3f9x2ab00000000").unwrap(), hash, Arc::new(plan));
        let mut told = Self { run, at: Time(1_800_000_000_000) };
        let input = RawValue::from_string("{}".into()).unwrap();
        let (key, labels) = (None, Default::default());
        let flow = told.run.plan.flow.clone();
        told.tell(&Event::RunTriggered(RunTriggered {
            flow,
            plan: hash,
            rules: RULES,
            input,
            by: name("ada"),
            key,
            labels,
        }));
        told.tell(&Event::PlanCreated(PlanCreated { plan: hash }));
        told
    }

    fn tell(&mut self, event: &Event) {
        self.at = Time(self.at.0 + 1_000);
        let stamp = Stamp { id: EventId::mint(self.at, 0, self.run.last), at: self.at };
        let verdict = fold(&mut self.run, stamp, event, &mut Changes::default());
        assert!(matches!(verdict, Verdict::Applied), "{event:?}");
    }

    fn begin(&mut self, path: &str) {
        let task = self.run.find(path).unwrap();
        let attempt = self.run.tasks[task.0 as usize].attempt + 1;
        let (generation, token, worker) = (1, TokenHash(7), "local/test".into());
        self.tell(&Event::DispatchEnqueued(DispatchEnqueued { task, generation, attempt, token, worker, lease: None }));
    }

    fn end(&mut self, path: &str, output: Result<&str, Failure>) {
        let task = self.run.find(path).unwrap();
        let attempt = self.run.tasks[task.0 as usize].attempt;
        let (generation, token) = (1, TokenHash(7));
        let (output, error) = match output {
            Ok(text) => (Some(RawValue::from_string(text.into()).unwrap()), None),
            Err(failure) => (None, Some(failure)),
        };
        self.tell(&Event::TaskFinished(TaskFinished { task, generation, attempt, token, output, error }));
    }

    /// What is drawn on a wide terminal, head and foot apart.
    fn shown(&self) -> Vec<String> {
        let picture = picture(&self.run, self.at, &Beside::default()).unwrap();
        let lines = draw(&picture, 140, 40, Time(self.at.0 / 400 * 400), Style::PLAIN);
        lines[2..lines.len() - 2].iter().map(|line| line.trim().to_owned()).collect()
    }
}

#[test]
fn a_gate_says_whom_it_waits_for_and_what_they_would_type() {
    let mut told = Told::of(
        "flow: f\ntasks:\n  go:\n    gate: { approval: { from: [lead, quality, boss], count: 2 }, deadline: 2h }\n",
    );
    let line = "~ go    0.0s  edgewise gate approve k3f9x2ab go --as lead (by 2 of lead, quality, boss; 2h00m left)";
    assert_eq!(told.shown(), [line]);
    let task = told.run.find("go").unwrap();
    told.tell(&Event::ApprovalGiven(Approved { task, generation: 1, by: name("lead"), comment: None }));
    let shown = told.shown();
    assert!(shown[0].contains("go --as quality (by 1 of quality, boss, 1 given; "), "{shown:?}");
}

#[test]
fn a_failure_is_its_type_and_what_was_said_last() {
    for (kind, message, note) in [
        ("exit_1", "the command exited with code 1: first\nlinker not found\n", "exit_1: linker not found"),
        ("exit_1", "the command exited with code 1 and said nothing on stderr", "exit_1"),
        (
            "signal_9",
            "the command was killed by signal: 9 (SIGKILL) and said nothing on stderr",
            "signal_9: the command was killed by signal: 9 (SIGKILL) and said nothing on stderr",
        ),
        ("timeout", "the attempt took longer than 3s", "timeout: the attempt took longer than 3s"),
    ] {
        assert_eq!(failure(&Failure::new(kind, message)), note);
    }
}

#[test]
fn a_task_between_attempts_says_when_the_next_one_is_and_why() {
    let mut told = Told::of(
        "flow: f\ntasks:\n  a: { run: x, retry: { max_attempts: 3, backoff: { kind: fixed, base: 4s }, jitter: 0 } }\n  b: { after: a, run: x }\n",
    );
    told.begin("a");
    told.end("a", Err(Failure::new("exit_7", "the command exited with code 7: no luck")));
    assert_eq!(told.shown(), ["~ a    1.0s  attempt 2 of 3 in 4s: exit_7: no luck", ". b"]);
}

#[test]
fn a_task_that_is_ready_for_a_while_says_which_slot_it_waits_for() {
    for (share, note) in [
        ("", "waits for a slot"),
        (", queue: night", "waits for a slot of queue night"),
        (", limit: { key: '\"db\"', max: 1 }", "waits for a slot of key db (1 at once)"),
        (", queue: night, limit: { key: '\"db\"', rate: 1/s }", "waits for a slot of queue night and of key db"),
    ] {
        let mut told = Told::of(&format!("flow: f\ntasks:\n  a: {{ run: x{share} }}\n"));
        assert_eq!(told.shown(), ["o a"], "it may begin at any moment");
        told.at = Time(told.at.0 + 500);
        assert_eq!(told.shown(), [format!("o a          {note}")]);
    }
}

#[test]
fn a_child_is_named_with_how_far_it_is() {
    let (child, flow) = (RunId::parse("6rdswds900000000").unwrap(), name("publish"));
    let mut beside = Beside::default();
    assert_eq!(note::below(child, &flow, &beside), "run 6rdswds9 of publish");
    beside.children.insert(child, (3, 7));
    assert_eq!(note::below(child, &flow, &beside), "run 6rdswds9 of publish, 3 of 7 tasks");
}

#[test]
fn how_long_something_takes_is_the_median_of_the_runs_before() {
    let past: Vec<Run> = [1, 9, 2]
        .iter()
        .map(|seconds| {
            let mut told = Told::of("flow: f\ntasks:\n  a: { run: x }\n");
            told.begin("a");
            told.at = Time(told.at.0 + (seconds - 1) * 1_000);
            told.end("a", Ok("1"));
            told.run
        })
        .collect();
    let beside = Beside::from_runs(&past);
    assert_eq!(beside.tasks.get("a"), Some(&Millis(2_000)));
    assert_eq!(Beside::from_runs(&[]), Beside::default(), "without earlier runs nothing is said");
    let mut told = Told::of("flow: f\ntasks:\n  a: { run: x }\n  b: { run: x }\n");
    told.begin("a");
    told.begin("b");
    let picture = picture(&told.run, told.at, &beside).unwrap();
    let expected: Vec<_> = picture.tasks.iter().map(|task| task.expected).collect();
    assert_eq!(expected, [Some(Millis(2_000)), None], "b is new in the flow");
    assert_eq!(picture.expected, beside.run);
}

#[test]
fn what_was_left_out_says_because_of_what() {
    let mut told = Told::of("flow: f\ntasks:\n  a: { run: x, retry: 1 }\n  b: { after: a, run: x }\n  c: { run: x }\n");
    told.begin("a");
    told.end("a", Err(Failure::new("exit_1", "the command exited with code 1: no")));
    assert_eq!(told.shown(), ["x a    1.0s  exit_1: no", "- b          a failed", "o c          waits for a slot"]);
    told.tell(&Event::RunCancelRequested(Request { by: name("ada"), why: None }));
    assert_eq!(told.shown()[2], "! c");
}

#[test]
fn the_items_of_a_small_spread_have_their_lines_from_the_beginning() {
    let mut told = Told::of("flow: f\ntasks:\n  s: { each: [1, 2, 3], as: n, run: x, retry: 1 }\n");
    told.begin("s[1]");
    let lines = told.shown();
    assert_eq!(lines.len(), 4);
    assert!(lines[0].contains("0 of 3") && lines[0].contains('='), "{lines:?}");
    told.end("s[1]", Ok("1"));
    assert_eq!(told.shown().len(), 4);
    assert!(told.shown()[0].contains("1 of 3"), "{:?}", told.shown());
}

#[test]
fn of_a_large_spread_only_failures_have_lines_and_not_too_many() {
    let items: Vec<u32> = (0..50).collect();
    let mut told = Told::of(&format!(
        "flow: f\ntasks:\n  s: {{ each: {items:?}, as: n, run: x, retry: 1, tolerate: 50 }}\n  t: {{ after: s, run: x }}\n"
    ));
    assert_eq!(told.shown().len(), 2);
    for n in 0..20 {
        told.begin(&format!("s[{n}]"));
        told.end(&format!("s[{n}]"), Err(Failure::new("exit_1", "no")));
    }
    let picture = picture(&told.run, told.at, &Beside::default()).unwrap();
    assert_eq!(picture.tasks.len(), 2 + ITEM_LINES);
    assert_eq!((picture.counts.failed, picture.counts.running), (20, 1));
    assert!(told.shown()[0].contains("20 of 50  20 failed"), "{:?}", told.shown());
    assert_eq!(picture.tasks.last().unwrap().path, "t");
}

#[test]
fn an_action_without_a_worker_says_what_it_waits_for() {
    let told = Told::of("flow: f\ntasks:\n  a: { action: mail/send }\n");
    assert_eq!(told.shown(), ["o a          waits for a worker that does `mail/send`"]);
}

#[test]
fn an_action_that_shares_a_slot_says_after_a_while_which_one() {
    let mut told = Told::of("flow: f\ntasks:\n  a: { action: mail/send, limit: { key: '\"db\"', max: 1 } }\n");
    assert_eq!(told.shown(), ["o a          waits for a worker that does `mail/send`"]);
    told.at = Time(told.at.0 + 500);
    let note = "waits for a slot of key db (1 at once), or for a worker that does `mail/send`";
    assert_eq!(told.shown(), [format!("o a          {note}")]);
}

#[test]
fn what_is_ready_in_a_run_that_is_paused_waits_for_that_and_nothing_else() {
    for work in ["run: x", "action: mail/send", "http: 'http://example.com/'", "action: a/b, queue: night"] {
        let mut told = Told::of(&format!("flow: f\ntasks:\n  a: {{ {work} }}\n"));
        told.tell(&Event::RunPauseRequested(Request { by: name("ada"), why: None }));
        assert_eq!(told.shown(), ["o a          waits for `edgewise resume`"], "{work}");
    }
}

#[test]
fn a_loop_shows_the_round_it_is_in_and_what_was_not_reached_is_not_shown() {
    let text =
        "flow f():\n    for n in range(20):\n        if n > 100:\n            break\n        @go(n=n)\n    @last()\n";
    let mut told = Told::of(text);
    for round in 0..2 {
        told.begin(&format!("for#{round}.go"));
        told.end(&format!("for#{round}.go"), Ok("1"));
    }
    let shown = told.shown();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(shown[0].contains("2 of 20"), "{shown:?}");
    assert!(shown[1].contains("for#2.if") && shown[2].contains("for#2.go"), "{shown:?}");
    told.begin("for#2.go");
    told.end("for#2.go", Err(Failure::permanent("no", "no")));
    assert_eq!(told.shown().len(), 3, "`last` was never reached: {:?}", told.shown());
}
