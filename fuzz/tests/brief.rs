//! Every target under fire for a few thousand rounds: the short form of `cargo xtask fuzz`.

use edgewise_fuzz::hunt::Hunt;
use edgewise_fuzz::{corpus, targets};

/// Memory that everything here fits in many times over; damage that became memory would not.
const MEMORY: u64 = 2 << 30;

/// The corpus first, then inputs made of it; the least number of marks shows that the hunt gets anywhere.
fn check(name: &str, rounds: u32, marks: usize) {
    let limit = rustix::process::Rlimit { current: Some(MEMORY), maximum: None };
    let _ = rustix::process::setrlimit(rustix::process::Resource::As, limit);
    let target = targets::find(name).unwrap();
    assert!(corpus::of(name).len() >= 3, "{name} has a poor corpus");
    let told = |found: edgewise_fuzz::hunt::Found| -> ! {
        panic!("{name}: {}\nby {:?}", found.why, String::from_utf8_lossy(&found.input))
    };
    let mut hunt = Hunt::begin(target, 1).unwrap_or_else(|found| told(found));
    for _ in 0..rounds {
        hunt.round().unwrap_or_else(|found| told(found));
    }
    assert!(hunt.marks() >= marks, "{name} got only {} marks", hunt.marks());
}

#[test]
fn no_command_line_is_too_strange() {
    check("args", 400, 50);
}

#[test]
fn no_case_file_is_too_strange() {
    check("cases", 2_000, 60);
}

#[test]
fn no_settings_file_is_too_strange() {
    check("config", 3_000, 20);
}

#[test]
fn whatever_a_workspace_is_set_to_folds_and_loads_from_its_rows() {
    check("control", 2_000, 10);
}

#[test]
fn no_cron_expression_is_too_strange() {
    check("cron", 3_000, 15);
}

#[test]
fn no_expression_is_too_strange() {
    check("expr", 1_500, 60);
}

#[test]
fn no_pattern_is_too_strange() {
    check("pattern", 3_000, 12);
}

#[test]
fn no_program_is_too_strange() {
    check("program", 1_000, 60);
}

#[test]
fn whatever_events_of_the_work_graph_can_be_read_fold_to_what_the_definitions_say() {
    check("work", 1_000, 15);
}

#[test]
fn whatever_events_can_be_read_fold_to_a_run_that_holds_together() {
    check("event", 1_000, 20);
}

#[test]
fn no_flow_file_is_too_strange() {
    check("flow", 2_000, 100);
}

#[test]
fn a_damaged_plan_is_refused_or_can_be_begun() {
    check("plan", 2_000, 20);
}

#[test]
fn a_damaged_record_is_refused_or_written_again_as_it_was() {
    check("record", 5_000, 20);
}

#[test]
fn damaged_rows_are_refused_or_a_run_like_any_other() {
    check("rows", 1_000, 5);
}

#[test]
fn no_line_on_the_socket_is_too_strange() {
    check("wire", 5_000, 20);
}
