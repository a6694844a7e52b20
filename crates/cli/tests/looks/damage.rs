//! The doctor: a clean store is clean, and each kind of damage is found, told with its run, and survived.

use super::ground::{Ground, story};
use std::process::Command;

/// Changes a file of the store behind its back.
fn sql(ground: &Ground, file: &str, text: &str) {
    let conn = rusqlite::Connection::open(ground.file(file)).unwrap();
    assert!(conn.execute(text, ()).unwrap() > 0, "{text}");
}

/// The codes of all problems with their runs, as `run1.... code`.
fn problems(ground: &Ground, line: &str) -> (i32, Vec<String>) {
    let (code, out, err) = ground.ask(&format!("{line} --json"));
    let value: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    let told = value["problems"].as_array().unwrap().iter().map(|problem| {
        assert!(!problem["next"].as_str().unwrap().is_empty());
        format!("{} {}", problem["run"].as_str().unwrap_or("-"), problem["code"].as_str().unwrap())
    });
    let mut told: Vec<String> = told.collect();
    told.sort();
    assert_eq!(value["clean"], told.is_empty());
    (code, told)
}

fn check(ground: &Ground, line: &str, code: i32, expected: &[&str]) {
    assert_eq!(problems(ground, line), (code, expected.iter().map(ToString::to_string).collect()), "{line}");
}

#[tokio::test]
async fn a_clean_store_is_clean_and_stays_so_without_rows_and_with_new_ones() {
    let ground = story().await;
    check(&ground, "doctor", 0, &[]);
    check(&ground, "doctor --verify", 0, &[]);
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = std::fs::remove_file(ground.file(file));
    }
    check(&ground, "doctor --verify", 0, &[]);
    let before = ground.ask("runs -o jsonl");
    check(&ground, "doctor --rebuild --verify", 0, &[]);
    assert_eq!(ground.ask("runs -o jsonl"), before);
    ground.golden("doctor.txt", &["doctor --verify", "doctor --rebuild"]);
}

#[tokio::test]
async fn a_flipped_byte_is_found_and_the_other_runs_are_looked_at_all_the_same() {
    let ground = story().await;
    let flip = "UPDATE records SET bytes = replace(bytes, 'flaky_browser', 'flaky_brawser') WHERE position = \
                (SELECT min(position) FROM records WHERE bytes LIKE '%flaky_browser%')";
    sql(&ground, "ledger.db", flip);
    check(&ground, "doctor --verify", 1, &["run1............ checksum_mismatch"]);
    let (code, _, err) = ground.ask("events $1");
    assert_eq!(code, 1);
    assert!(err.contains("edgewise doctor --verify"), "{err}");
    assert_eq!(ground.ask("show $2").0, 0, "a neighbour is not hurt");
    check(&ground, "doctor --rebuild", 1, &["run1............ not_rebuilt"]);
    assert!(ground.data().join("state.db.old").exists(), "the last good copy is kept");
    assert_eq!(ground.ask("runs -q").1.lines().count(), 5, "what can be folded has rows");
}

#[tokio::test]
async fn a_record_that_is_gone_is_found_wherever_it_was() {
    let ground = story().await;
    let of_run = |n: usize| format!("stream = (SELECT id FROM streams WHERE run = '{}')", ground.runs[n]);
    sql(&ground, "ledger.db", &format!("DELETE FROM records WHERE {} AND first = 3", of_run(0)));
    let gap = ["- records_missing", "run1............ seq_gap"];
    check(&ground, "doctor --verify", 1, &gap);
    let last = of_run(2);
    let last = format!("DELETE FROM records WHERE {last} AND first = (SELECT max(first) FROM records WHERE {last})");
    sql(&ground, "ledger.db", &last);
    check(&ground, "doctor --verify", 1, &[gap[0], gap[1], "run3............ ledger_behind_rows"]);
    sql(&ground, "ledger.db", &format!("DELETE FROM records WHERE {}", of_run(4)));
    let all = [gap[0], gap[1], "run3............ ledger_behind_rows", "run5............ records_missing"];
    check(&ground, "doctor --verify", 1, &all);
}

#[tokio::test]
async fn a_head_that_is_not_the_last_record_is_found() {
    let ground = story().await;
    let last = "(SELECT max(position) FROM records)";
    sql(
        &ground,
        "ledger.db",
        &format!("UPDATE records SET last = '00000000000000000000000001' WHERE position = {last}"),
    );
    let (code, told) = problems(&ground, "doctor --verify");
    assert_eq!(code, 1);
    assert!(told.iter().any(|problem| problem.ends_with("head_differs")), "{told:?}");
}

#[tokio::test]
async fn rows_that_say_something_else_are_found_and_made_anew() {
    let ground = story().await;
    let first = "(SELECT min(id) FROM task_rows)";
    for (damage, found) in [
        (format!("UPDATE task_rows SET attempt = 7 WHERE id = {first}"), "refold_equals_projection"),
        (format!("UPDATE task_rows SET output = '1' WHERE id = {first}"), "refold_equals_projection"),
        (format!("DELETE FROM task_rows WHERE id = {first}"), "refold_equals_projection"),
        ("UPDATE run_rows SET paused = 1 - paused WHERE no = 1".to_owned(), "refold_equals_projection"),
        ("UPDATE run_rows SET applied_seq = 3 WHERE no = 1".to_owned(), "rows_missing"),
        ("UPDATE run_rows SET state = 99 WHERE no = 1".to_owned(), "damaged_row"),
        ("DELETE FROM run_rows WHERE no = 1".to_owned(), "rows_missing"),
        ("DELETE FROM timer_rows".to_owned(), "refold_equals_projection"),
        ("DELETE FROM outbox_rows".to_owned(), "refold_equals_projection"),
    ] {
        sql(&ground, "state.db", &damage);
        let (code, told) = problems(&ground, "doctor --verify");
        assert_eq!(code, 1, "{damage}");
        assert!(told.iter().any(|problem| problem.ends_with(found)), "{damage}: {told:?}");
        check(&ground, "doctor --rebuild --verify", 0, &[]);
    }
}

#[tokio::test]
async fn a_plan_that_is_not_what_was_written_is_found() {
    let ground = story().await;
    sql(&ground, "ledger.db", "UPDATE plans SET bytes = replace(bytes, 'ci.build', 'ci.guild')");
    let damaged = ["run1............ plan_damaged", "run2............ plan_damaged", "run5............ plan_damaged"];
    check(&ground, "doctor --verify", 1, &damaged);
}

#[tokio::test]
async fn rows_that_are_no_database_are_a_problem_that_a_rebuild_mends() {
    let ground = story().await;
    std::fs::write(ground.file("state.db"), vec![b'x'; 8_192]).unwrap();
    let _ = std::fs::remove_file(ground.file("state.db-wal"));
    let (code, told) = problems(&ground, "doctor --verify");
    assert_eq!((code, told.len()), (1, 1), "{told:?}");
    assert_eq!(ground.ask("runs -q").1.lines().count(), 6, "the ledger is enough to look at");
    check(&ground, "doctor --rebuild", 0, &[]);
    check(&ground, "doctor --verify", 0, &[]);
}

#[tokio::test]
async fn a_frozen_run_and_left_over_logs_are_told_and_an_engine_forbids_a_rebuild() {
    let ground = story().await;
    sql(&ground, "ledger.db", &format!("UPDATE streams SET frozen = 'alarm' WHERE run = '{}'", ground.runs[1]));
    std::fs::create_dir_all(ground.file("logs").join("0000000000000000")).unwrap();
    let lock = std::fs::File::create(ground.file("engine.lock")).unwrap();
    lock.lock().unwrap();
    let (code, out, _) = ground.ask("doctor");
    assert_eq!(code, 1);
    for expected in ["engine  at work", "1 left over of unknown runs", "run2....  it is frozen: alarm"] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    let (code, _, err) = ground.ask("doctor --rebuild");
    assert_eq!(code, 4);
    assert!(err.contains("an engine is at work"), "{err}");
    assert!(ground.ask("runs").1.contains("frozen"));
    assert!(ground.ask("show $2").1.contains("alarm"));
    assert!(ground.ask("why $2").1.contains("frozen: alarm"));
}

#[tokio::test]
async fn a_reader_that_left_ends_the_examination_without_a_word() {
    let ground = story().await;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command: Command = ground.command("events $1 -o jsonl");
    let output = command.stdout(writer).stderr(std::process::Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
