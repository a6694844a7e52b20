//! The views for people: words instead of numbers, tasks without rows, edges from plan and rows.

use super::*;
use crate::conformance::fixture::{
    bare_task_row, change, flush, lease_row, name, outbox_row, run_row, task_row, timer_row,
};
use crate::projections::{Projections, RunChange};
use edgewise_core::event::{TaskIx, TimerKind};
use edgewise_core::gate::{Gate, OnDeadline, Wait};
use edgewise_core::id::EventId;
use edgewise_core::plan::{
    Accepts, Items, Join, OnFailure, Plan, PlanDraft, RegionDraft, Resolution, Spec, Spread, Work,
};
use edgewise_core::rows::TaskRow;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};

/// build -> test (also when it failed) -> approve, and `each`, a spread over fetch -> store.
fn plan(on_failure: OnFailure) -> Plan {
    let wait = Wait::After(Millis(1));
    let works = [
        Work::Command(Default::default()),
        Work::Gate(Gate { on_deadline: OnDeadline::Open, ..Gate::new(wait) }),
        Work::Spread(Spread { region: 1, items: Items::Literal(vec![]), tolerate: 0, fail_fast: false }),
    ];
    let specs = works
        .map(|work| Spec {
            when: None,
            work,
            retry: Default::default(),
            timeouts: Default::default(),
            share: Default::default(),
            publish: Vec::new(),
        })
        .into();
    let (mut root, mut inner) = (RegionDraft::default(), RegionDraft::default());
    for (name, spec) in [("build", 0), ("test", 0), ("approve", 1), ("each", 2)] {
        root.node(name, spec, Join::All);
    }
    root.edge(0, 1, Accepts::SUCCESS.or(Accepts::of(Resolution::Failed)));
    root.edge(1, 2, Accepts::SUCCESS);
    root.edge(0, 2, Accepts::DONE);
    inner.node("fetch", 0, Join::All);
    inner.node("store", 0, Join::All);
    inner.edge(0, 1, Accepts::SUCCESS);
    PlanDraft { specs, regions: vec![root, inner], on_failure, ..PlanDraft::default() }.build(name("deploy")).unwrap()
}

fn row(task: u32, state: TaskState) -> TaskRow {
    TaskRow { node: task, state, attempt: 2, completed_at: Time(1_763_238_262_007), ..bare_task_row(task) }
}

/// A run of the plan with these rows, and somebody's connection to look at it.
fn shown(on_failure: OnFailure, tasks: Vec<TaskRow>, edit: impl FnOnce(&mut RunChange)) -> (TempDir, Connection) {
    let dir = folder();
    let mut sent = RunChange { tasks, plan: Some(plan(on_failure).into()), ..change(&stream(1), 0, 1) };
    edit(&mut sent);
    open(&dir).projections.flush(&flush(vec![sent], 0)).unwrap();
    let conn = outsider(&dir, "state.db");
    (dir, conn)
}

/// A query's rows, each as text with bars between, as `sqlite3` prints them.
fn ask(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    let columns = statement.column_count();
    let print = |row: &rusqlite::Row<'_>| {
        let cell = |n| match row.get::<_, rusqlite::types::Value>(n).unwrap() {
            rusqlite::types::Value::Null => String::new(),
            rusqlite::types::Value::Integer(n) => n.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        };
        Ok((0..columns).map(cell).collect::<Vec<_>>().join("|"))
    };
    statement.query_map((), print).unwrap().map(Result::unwrap).collect()
}

#[test]
fn the_words_in_the_file_are_those_of_the_program() {
    let dir = used();
    let conn = outsider(&dir, "state.db");
    let tasks: Vec<String> =
        TaskState::ALL.iter().map(|s| format!("{}|{s:?}|{}", *s as u8, s.phase(false).word())).collect();
    assert_eq!(ask(&conn, "SELECT state, word, phase FROM task_words ORDER BY state"), tasks);
    let done: Vec<String> = TaskState::ALL.iter().map(|s| u8::from(s.is_done()).to_string()).collect();
    assert_eq!(ask(&conn, "SELECT resolution > 0 FROM task_words ORDER BY state"), done);
    let runs: Vec<String> = RunState::ALL.iter().map(|s| format!("{}|{s:?}|{}", *s as u8, s.phase().word())).collect();
    assert_eq!(ask(&conn, "SELECT state, word, phase FROM run_words ORDER BY state"), runs);
    let first_done = RunState::ALL.iter().position(|s| s.is_done());
    assert_eq!(first_done, Some(8), "task_facts takes a run from state 8 on for done");
}

#[test]
fn tasks_show_rows_and_also_what_has_none_yet() {
    let failed = TaskRow { error: Some("{\"type\":\"exit_1\"}".into()), ..row(0, TaskState::Error) };
    let (_dir, conn) = shown(OnFailure::Continue, vec![failed, row(3, TaskState::InProgress)], |_| ());
    let sql = "SELECT tenant_id, workspace_id, run_id, task_key, kind, generation, state, phase, attempt, max_attempts,
                      deps_total, deps_satisfied_count, completed_at, error FROM tasks";
    let walls = "local|default|0000000000000001";
    let at = "2025-11-15T20:24:22.007Z";
    assert_eq!(
        ask(&conn, sql),
        [
            format!("{walls}|build|run|1|Error|failed|2|3|0|0|{at}|{{\"type\":\"exit_1\"}}"),
            format!("{walls}|test|run|1|Pending|blocked|0|3|1|1||"),
            format!("{walls}|approve|gate|1|Pending|blocked|0|3|2|1||"),
            format!("{walls}|each|spread|1|InProgress|waiting|2|3|0|0|{at}|"),
        ]
    );
    let versions = ask(&conn, "SELECT row_version FROM tasks");
    assert_eq!(versions[0], EventId(u128::MAX / 3).to_string());
    assert_eq!(versions[1], run_row(&stream(1), 1).version.to_string(), "without a row: that of the run");
}

#[test]
fn why_a_task_was_left_out_is_a_reason_and_not_an_error() {
    let skipped = TaskRow { error: Some("\"upstream\"".into()), ..row(1, TaskState::Skipped) };
    let (_dir, conn) = shown(OnFailure::Continue, vec![skipped], |_| ());
    assert_eq!(ask(&conn, "SELECT error, skip_reason FROM tasks WHERE task_key = 'test'"), ["|\"upstream\""]);
}

#[test]
fn an_edge_is_resolved_as_its_upstream_ended() {
    use TaskState::{Cancelled, Complete, Error, InProgress, ResolvedManually, Skipped};
    for (state, resolution, to_test, to_approve) in [
        (Complete, "SUCCESS", 1, 1),
        (ResolvedManually, "SUCCESS", 1, 1),
        (Error, "FAILED", 1, 1),
        (Skipped, "SKIPPED", 0, 1),
        (Cancelled, "CANCELLED", 0, 1),
        (InProgress, "", 0, 0),
    ] {
        let (_dir, conn) = shown(OnFailure::Continue, vec![row(0, state)], |_| ());
        let sql = "SELECT upstream_task_key, downstream_task_key, generation, accepts, satisfied, resolution,
                          satisfied_at, satisfying_attempt, row_version
                   FROM dep_satisfaction WHERE run_id = '0000000000000001'";
        let version = EventId(u128::MAX / 3);
        let end = if resolution.is_empty() { "||".into() } else { format!("2025-11-15T20:24:22.007Z|2|{version}") };
        assert_eq!(
            ask(&conn, sql),
            [
                format!("build|test|1|SUCCESS,FAILED|{to_test}|{resolution}|{end}"),
                "test|approve|1|SUCCESS|0||||".to_owned(),
                format!("build|approve|1|SUCCESS,FAILED,SKIPPED,CANCELLED|{to_approve}|{resolution}|{end}"),
            ],
            "{state:?}"
        );
    }
}

#[test]
fn under_hold_a_failure_leaves_its_edges_open_until_the_run_is_over() {
    for (run, resolution, satisfied) in [(RunState::BlockedByFailures, "", 0), (RunState::Error, "FAILED", 1)] {
        let (_dir, conn) = shown(OnFailure::Hold, vec![row(0, TaskState::Error)], |sent| sent.run.state = run);
        let edge = ask(&conn, "SELECT resolution, satisfied FROM dep_satisfaction WHERE downstream_task_key = 'test'");
        assert_eq!(edge, [format!("{resolution}|{satisfied}")]);
        let count = ask(&conn, "SELECT deps_satisfied_count FROM tasks WHERE task_key = 'test'");
        assert_eq!(count, [satisfied.to_string()]);
    }
}

#[test]
fn tasks_and_edges_of_a_spread_are_shown_in_their_scope() {
    let in_scope = |task: u32, node: u32, path: &str, state| TaskRow {
        scope: 1 + task / 6,
        region: 1,
        node,
        path: Some(path.into()),
        ..row(task, state)
    };
    let rows = vec![
        in_scope(4, 0, "each[0].fetch", TaskState::Complete),
        in_scope(5, 1, "each[0].store", TaskState::Enqueued),
        in_scope(7, 1, "each[1].store", TaskState::Cancelled),
    ];
    let (_dir, conn) = shown(OnFailure::Continue, rows, |_| ());
    let tasks =
        ask(&conn, "SELECT task_key, kind, deps_total, deps_satisfied_count FROM tasks WHERE task_key LIKE 'each[%'");
    assert_eq!(tasks, ["each[0].fetch|run|0|0", "each[0].store|run|1|1", "each[1].store|run|1|0"]);
    let edges = ask(
        &conn,
        "SELECT upstream_task_key, downstream_task_key, resolution FROM dep_satisfaction WHERE downstream_task_key LIKE 'each[%'",
    );
    assert_eq!(edges, ["each[0].fetch|each[0].store|SUCCESS", "each[1].fetch|each[1].store|"]);
}

#[test]
fn runs_show_words_counts_and_times() {
    let (_dir, conn) = shown(OnFailure::Continue, vec![], |sent| {
        sent.run.counts = [0, 2, 0, 0, 0, 0, 7, 0, 0, 0, 0];
    });
    let sql = "SELECT tenant_id, workspace_id, run_id, flow, state, phase, paused, counts, triggered_at, started_at,
                      completed_at, row_version FROM runs";
    let version = run_row(&stream(1), 1).version;
    let counts = "{\"Enqueued\":2,\"Complete\":7}";
    let times = "1970-01-01T00:00:01.000Z|1970-01-01T00:00:02.001Z|";
    let wanted = format!("local|default|0000000000000001|deploy|TasksInProcess|running|1|{counts}|{times}|{version}");
    assert_eq!(ask(&conn, sql), [wanted]);
}

#[test]
fn what_hangs_on_a_task_is_shown_with_its_name() {
    let nested = TaskRow { task: TaskIx(9), ..task_row(9, TaskState::Enqueued) };
    let (_dir, conn) = shown(OnFailure::Continue, vec![row(0, TaskState::Enqueued), nested], |sent| {
        sent.timers = vec![timer_row(0, TimerKind::Overall, 1_001), timer_row(2, TimerKind::Gate, 2_000)];
        sent.outbox = vec![outbox_row(0, 3_000), outbox_row(9, 3_000)];
        sent.leases = vec![lease_row(0, "w1")];
    });
    let walls = "local|default|0000000000000001";
    let timers =
        ask(&conn, "SELECT tenant_id, workspace_id, run_id, task_key, kind, generation, attempt, due_at FROM timers");
    assert_eq!(
        timers,
        [
            format!("{walls}|build|overall|2|3|1970-01-01T00:00:01.001Z"),
            format!("{walls}|approve|gate|2|3|1970-01-01T00:00:02.000Z"),
        ]
    );
    let outbox = ask(&conn, "SELECT task_key, generation, attempt, action, ready_at FROM dispatch_outbox");
    let at = "1970-01-01T00:00:03.000Z";
    assert_eq!(outbox, [format!("build|2|3|echo|{at}"), format!("each[9].test|2|3|echo|{at}")]);
    let leases = ask(&conn, "SELECT task_key, generation, attempt, worker, deadline, row_version FROM leases");
    let version = EventId(u128::MAX / 3);
    assert_eq!(leases, [format!("build|2|3|w1|1970-01-01T00:00:09.000Z|{version}")]);
    for kind in TimerKind::ALL {
        conn.execute("UPDATE timer_rows SET kind = ?1 WHERE task & 4294967295 = 0", [kind as u8]).unwrap();
        let word = serde_json::to_value(kind).unwrap();
        assert_eq!(ask(&conn, "SELECT kind FROM timers WHERE task_key = 'build'"), [word.as_str().unwrap()]);
    }
}
