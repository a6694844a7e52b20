//! The flows under test, in their authors' words.

use crate::driver::start_of;
use edgewise_core::flow::{Found, Resolve, compile_file_with};
use edgewise_core::plan::Plan;
use edgewise_engine::command::Start;
use std::sync::Arc;

/// A flow compiled; it has no problems.
pub fn flow(text: &str) -> Arc<Plan> {
    match edgewise_core::flow::compile(text, "test.yaml") {
        Ok(compiled) => Arc::new(compiled.plan),
        Err(problems) => panic!("{problems:?}"),
    }
}

/// One task, of which one at a time may be at work, whichever run it is in.
pub const LIMITED: &str = "{ flow: f, tasks: { a: { action: work, limit: { key: '\"k\"', max: 1 }, retry: 1 } } }";
/// One task of an action, with one attempt.
pub const ONE: &str = "{ flow: one, tasks: { a: { action: work, retry: 1 } } }";

/// Three tasks in a row, the middle one with three attempts.
pub const CHAIN: &str = "
flow: chain
tasks:
  a: { action: work, retry: 2 }
  b: { after: a, action: work, retry: { max_attempts: 3, backoff: { kind: fixed, base: 2s }, jitter: 0 } }
  c: { after: b, action: work, retry: 2 }
";

/// Two branches that meet, a handler for the failure of one of them, and something that observes both.
pub const DIAMOND: &str = "
flow: diamond
tasks:
  a: { action: work, retry: 2 }
  left: { after: a, action: work, retry: { max_attempts: 2, backoff: { kind: fixed, base: 1s }, jitter: 0 } }
  right: { after: a, action: work, retry: 2 }
  mend: { after: { left: failed }, action: work, retry: 2 }
  join: { after: { left: done, right: ok }, action: work, retry: 2 }
";

/// A list of five, of which one may fail, and a task behind them.
pub const SPREAD: &str = "
flow: spread
tasks:
  list: { action: work, retry: 2 }
  each:
    after: list
    each: [1, 2, 3, 4, 5]
    tolerate: 1
    action: work
    retry: { max_attempts: 2, backoff: { kind: fixed, base: 1s }, jitter: 0 }
  end: { after: each, action: work, retry: 2 }
";

/// A gate that people open, and that opens by itself after a minute; and one that only time opens.
pub const GATE: &str = "
flow: gate
tasks:
  a: { action: work, retry: 2 }
  ask: { after: a, gate: { approval: { from: [ann, bob], count: 2 }, deadline: 1m, on_deadline: open } }
  sleep: { after: a, gate: { timer: 20s } }
  b: { after: [ask, sleep], action: work, retry: 2 }
";

/// Everything that time can do to a task.
pub const TIMEOUTS: &str = "
flow: timeouts
tasks:
  a: { action: work, timeout: { attempt: 5s }, retry: { max_attempts: 2, backoff: { kind: fixed, base: 1s }, jitter: 0 } }
  b: { action: rare, timeout: { queue: 40s }, retry: 3 }
  c: { action: work, timeout: { overall: 50s }, retry: { max_attempts: 9, backoff: { kind: linear, base: 3s } } }
  d: { after: { a: done, b: done, c: done }, action: work, retry: 2 }
";

/// The first failure ends the rest.
pub const FAST: &str = "
flow: fast
on_failure: fail_fast
tasks:
  a: { action: work, retry: 1 }
  b: { action: work, retry: 2 }
  c: { after: [a, b], action: rare, retry: 2 }
  d: { action: rare, retry: 2 }
";

/// All that can be stormed.
pub const ALL: [&str; 7] = [ONE, CHAIN, DIAMOND, SPREAD, GATE, TIMEOUTS, FAST];

/// A task that runs another flow, which runs a third one; the middle one is tried twice.
pub const NESTED: [&str; 3] = [
    "
flow: outer
tasks:
  a: { action: work, retry: 2 }
  sub: { after: a, flow: middle, with: { n: 1 }, retry: { max_attempts: 2, backoff: { kind: fixed, base: 1s }, jitter: 0 } }
  z: { after: sub, action: work, retry: 2 }
",
    "
flow: middle
inputs: { n: { type: integer } }
tasks:
  inner: { flow: inmost }
  m: { after: { inner: done }, action: work, retry: 2 }
",
    "
flow: inmost
tasks:
  i: { action: work, retry: 2 }
  j: { after: i, action: work, retry: 1 }
",
];

/// The same with something to do before and behind each run, and no second try of it.
pub const MENDED: [&str; 3] = [
    "
flow: outer
tasks:
  a: { action: work, retry: 2 }
  sub: { after: a, flow: middle }
  z: { after: sub, action: work, retry: 2 }
",
    "
flow: middle
tasks:
  x: { action: work, retry: 2 }
  inner: { after: x, flow: inmost }
  y: { after: inner, action: work, retry: 2 }
",
    "
flow: inmost
tasks:
  i: { action: work, retry: 2 }
  j: { after: i, action: work, retry: 2 }
",
];

/// A program: a loop in which something is tried and dealt with, a nap, arms of which one may fail, and a last step.
pub const PROGRAM: &str = "
flow program():
    for x in range(2):
        try:
            @work(v=x) [retry: 2]
        except:
            @work(v=7) [retry: 2]
    sleep 2s
    arms = spread [1, 2]:x -> step(x) [tolerate: 1]
    @work(v=9) [retry: 2]

fn step(x):
    z = @work(v=x) [retry: 2]
";

/// A start of the first flow, which may start runs of the others.
pub fn composed(texts: &[&str]) -> Start {
    struct Others<'t>(&'t [&'t str]);
    impl Resolve for Others<'_> {
        fn find(&mut self, name: &str, _: &str) -> Result<Option<Found>, String> {
            // The name of a flow stands at the beginning of a line, or of the whole text.
            let is = |text: &&&str| {
                let words = text.trim_start_matches(['{', ' ', '\n']);
                let rest = words.strip_prefix("flow").map(|words| words.trim_start_matches([':', ' ']));
                rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with(['\n', ',', '(']))
            };
            let file = |text: &&str| {
                let kind = if text.starts_with("flow ") { "flow" } else { "yaml" };
                Found::File { text: (*text).to_owned(), file: format!("{name}.{kind}") }
            };
            Ok(self.0.iter().find(is).map(file))
        }
    }
    let file = if texts[0].trim_start().starts_with("flow ") { "test.flow" } else { "test.yaml" };
    let flows = compile_file_with(texts[0], file, &mut Others(&texts[1..]));
    let one = flows.unwrap_or_else(|problems| panic!("{problems}")).remove(0);
    Start { children: one.children, ..start_of(&Arc::new(one.plan)) }
}
