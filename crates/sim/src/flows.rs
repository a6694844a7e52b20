//! The flows under test, in their authors' words.

use edgewise_core::plan::Plan;
use std::sync::Arc;

/// A flow compiled; it has no problems.
pub fn flow(text: &str) -> Arc<Plan> {
    match edgewise_core::flow::compile(text, "test.yaml") {
        Ok(compiled) => Arc::new(compiled.plan),
        Err(problems) => panic!("{problems:?}"),
    }
}

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
