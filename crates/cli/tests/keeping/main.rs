//! Finding, keeping and letting go of runs with the real binary, each test in a folder of its own.

mod guide;
mod place;

use place::Place;
use serde_json::Value;

const QUICK: &str = "{ flow: quick, namespace: ops, labels: { team: web }, tasks: { a: { run: echo hello } } }";
const WAITS: &str = "{ flow: waits, tasks: { ok: { gate: { approval: { count: 1 } } } } }";

fn with_runs() -> Place {
    let place = Place::new(&[("quick.yaml", QUICK), ("waits.yaml", WAITS)]);
    place.good(&["run", "quick.yaml", "--wait"]);
    place.good(&["run", "quick.yaml", "--wait", "--label", "team=core", "--key", "k1"]);
    for _ in 0..3 {
        place.good(&["run", "waits.yaml", "--detach", "-q"]);
    }
    place
}

#[test]
fn runs_are_found_by_what_is_typed_and_paged_by_their_cursor() {
    let place = with_runs();
    let count =
        |query: &str| place.json(&[&["runs", "--json"][..], &query.split(' ').collect::<Vec<_>>()].concat()).len();
    for (query, wanted) in [
        ("flow:quick", 2),
        ("namespace:ops", 2),
        ("namespace:waits", 3),
        ("label.team=core", 1),
        ("-label.team=core", 4),
        ("-state:complete -flow:nothing", 3),
        ("key:k1 state:succeeded", 1),
        ("wai since:1h", 3),
        ("until:1h", 0),
    ] {
        assert_eq!(count(query), wanted, "{query}");
    }
    let mut seen = Vec::new();
    let mut words = vec!["runs".to_owned(), "--json".into(), "--limit".into(), "2".into()];
    loop {
        let page = place.json(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let Some(last) = page.last() else { break };
        words.truncate(4);
        words.extend(["--after".into(), last["cursor"].as_str().unwrap().to_owned()]);
        seen.extend(page.iter().map(|run| run["run"].as_str().unwrap().to_owned()));
    }
    seen.dedup();
    assert_eq!(seen.len(), 5);
    let refused = place.run(&["runs", "stat:failed"]);
    assert!(
        refused.code == 2 && refused.err.contains("at character 1") && refused.err.contains("`state:`"),
        "{refused:?}"
    );
}

#[test]
fn an_act_on_many_is_listed_first_done_after_a_yes_and_told_run_by_run() {
    let place = with_runs();
    let refused = place.run(&["cancel", "--where", "flow:waits"]);
    assert_eq!((refused.code, refused.out.lines().count()), (2, 4), "{refused:?}");
    assert!(refused.err.contains("3 runs would be cancelled, and nothing was done"), "{refused:?}");
    assert_eq!(place.good(&["pause", "--where", "flow:waits", "--dry-run", "-q"]).out.lines().count(), 3);
    assert!(place.good(&["pause", "--where", "flow:waits", "--yes"]).err.contains("3 runs: 3 paused"));
    let again = place.good(&["pause", "--where", "state:paused", "--yes"]);
    assert!(again.err.contains("3 runs: 3 was paused already"), "{again:?}");
    let resumed = place.json(&["resume", "--where", "state:paused", "--yes", "--json"]);
    assert!(resumed.len() == 3 && resumed.iter().all(|run| run["changed"] == true), "{resumed:?}");
    let done = place.good(&["cancel", "--where", "waits", "--yes", "--why", "enough"]);
    assert!(done.out.lines().count() == 3 && done.out.starts_with("cancelled run "), "{done:?}");
    assert!(place.good(&["cancel", "--where", "flow:waits", "--yes"]).err.contains("no run that is not over"));
    for nothing in [&["cancel", "--where", "flow:waits"][..], &["retain", "--older-than", "30d", "--dry-run"]] {
        let words = |more: &'static str| [nothing, &[more]].concat();
        assert_eq!(place.json(&words("--json")), Vec::<Value>::new(), "{nothing:?}");
        assert_eq!(place.good(&words("-q")).out, "", "{nothing:?}");
    }
    for act in ["cancel", "rerun"] {
        assert_eq!(place.run(&[act, "@", "--where", "x"]).code, 2, "{act}");
    }
    assert_eq!(place.run(&["cancel"]).code, 2);
}

#[test]
fn many_runs_are_rerun_by_a_search_and_go_on_without_whoever_asked() {
    let breaks = "{ flow: breaks, tasks: { a: { run: 'test -e mended', retry: 1 } } }";
    let place = Place::new(&[("breaks.yaml", breaks)]);
    for _ in 0..2 {
        assert_eq!(place.run(&["run", "breaks.yaml", "--wait"]).code, 1);
    }
    let refused = place.run(&["rerun", "--where", "state:failed"]);
    assert!(refused.code == 2 && refused.err.contains("2 runs would be reopened, and nothing was done"), "{refused:?}");
    assert_eq!(place.run(&["rerun", "--where", "state:failed", "--wait"]).code, 2, "nobody watches many");
    place.write("mended", "");
    let done = place.good(&["rerun", "--where", "state:failed", "--yes", "--why", "mended"]);
    assert!(done.out.lines().count() == 2 && done.out.starts_with("reopened run "), "{done:?}");
    for run in place.json(&["runs", "--json"]) {
        place.good(&["watch", run["run"].as_str().unwrap()]);
    }
    assert_eq!(place.json(&["runs", "state:succeeded", "--json"]).len(), 2);
    let nothing = place.run(&["rerun", "--where", "flow:breaks", "--yes"]);
    assert!(nothing.code == 4 && nothing.err.contains("2 runs: 2 refused"), "nothing failed: {nothing:?}");
}

#[test]
fn frozen_runs_are_found_and_let_go_on_by_a_search() {
    let place = with_runs();
    place.good(&["freeze", "--where", "flow:waits", "--yes", "--why", "evidence"]);
    assert_eq!(place.json(&["runs", "state:frozen", "--json"]).len(), 3);
    assert_eq!(place.json(&["runs", "-state:frozen", "--json"]).len(), 2);
    let thawed = place.good(&["unfreeze", "--where", "state:frozen", "--yes"]);
    assert!(thawed.err.contains("3 runs: 3 unfroze"), "{thawed:?}");
    assert_eq!(place.json(&["runs", "state:frozen", "--json"]).len(), 0);
}

#[test]
fn a_backup_is_made_while_an_engine_works_and_brings_everything_back() {
    let place = with_runs();
    let busy = "{ flow: busy, tasks: { a: { run: 'touch began; while [ ! -e go ]; do sleep 0.05; done' } } }";
    place.write("busy.yaml", busy);
    let mut child = place.spawn(&["run", "busy.yaml", "--wait"]);
    place.until("began");
    let made = place.good(&["backup", "copy"]);
    assert!(made.out.contains("6 runs: ") && made.out.contains("every record checked"), "{made:?}");
    place.write("go", "");
    assert!(child.wait().unwrap().success());
    assert_eq!(place.run(&["backup", "copy"]).code, 4, "nothing is ever overwritten");
    assert_eq!(place.run(&["restore", "copy"]).code, 4, "only into an empty folder");
    let looked = place.good(&["restore", "copy", "--dir", "new", "--dry-run"]);
    assert!(looked.err.contains("nothing was written") && !place.path("new").exists(), "{looked:?}");
    place.good(&["restore", "copy", "--dir", "new"]);
    let (there, back) = (place.json(&["runs", "--json"]), place.json(&["runs", "--json", "--dir", "new"]));
    let ids = |runs: &[Value]| runs.iter().map(|run| run["run"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&there), ids(&back));
    assert_eq!((there[0]["phase"].as_str(), back[0]["phase"].as_str()), (Some("succeeded"), Some("running")));
    assert!(place.good(&["doctor", "--verify", "--dir", "new"]).out.contains("clean"));
    let key = place.good(&["run", "quick.yaml", "--wait", "--label", "team=core", "--key", "k1", "--dir", "new"]);
    assert!(key.err.contains("has started run"), "keys are in it: {key:?}");
}

#[test]
fn a_backup_that_was_changed_is_refused_before_anything_is_written() {
    let place = with_runs();
    place.good(&["backup", "copy"]);
    let ledger = place.path("copy/ledger.db");
    let mut bytes = std::fs::read(&ledger).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&ledger, bytes).unwrap();
    let refused = place.run(&["restore", "copy", "--dir", "new"]);
    assert!(refused.code == 1 && refused.err.contains("is not what was backed up"), "{refused:?}");
    assert!(!place.path("new").exists());
    std::fs::remove_file(place.path("copy/backup.json")).unwrap();
    assert_eq!(place.run(&["restore", "copy", "--dir", "new"]).code, 3);
}

#[test]
fn exported_runs_have_their_tasks_and_events_one_line_each() {
    let place = with_runs();
    let lines = place.good(&["runs", "export", "flow:quick"]).out;
    let runs: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert_eq!(run["tasks"][0]["path"], "a");
        let events = run["events"].as_array().unwrap();
        assert_eq!((&events[0]["type"], events.len() as u64), (&"RunTriggered".into(), run["seq"].as_u64().unwrap()));
    }
    place.good(&["runs", "export", "--to", "all.jsonl"]);
    assert_eq!(std::fs::read_to_string(place.path("all.jsonl")).unwrap().lines().count(), 5);
    assert_eq!(place.run(&["runs", "export", "--to", "all.jsonl"]).code, 4);
}

#[test]
fn runs_that_are_old_enough_are_taken_away_with_their_logs_and_their_keys_are_kept() {
    let place = with_runs();
    assert!(place.good(&["retain", "--older-than", "1h", "--yes"]).err.contains("no run is that old"));
    assert_eq!(place.run(&["retain", "--older-than", "0s"]).code, 2, "a script must say --yes");
    assert_eq!(place.good(&["retain", "--older-than", "0s", "--dry-run", "-q"]).out.lines().count(), 2);
    let taken = place.good(&["retain", "--older-than", "0s", "--yes"]);
    assert!(taken.err.contains("2 runs taken away"), "{taken:?}");
    assert_eq!(place.json(&["runs", "--json"]).len(), 3);
    assert_eq!(std::fs::read_dir(place.path(".edgewise/logs")).unwrap().count(), 0);
    assert!(place.good(&["doctor", "--verify"]).out.contains("clean"));
    let again = place.good(&["run", "quick.yaml", "--wait", "--label", "team=core", "--key", "k1"]);
    assert!(again.err.contains("was taken away at") && again.err.contains("nothing was started"), "{again:?}");
    let id = again.out.trim();
    assert!(place.run(&["show", id]).err.contains("was taken away"));
    assert_eq!(place.run(&["retain", "--older-than", "0s", "--state", "running", "--yes"]).code, 2);
}

#[test]
fn an_engine_takes_runs_away_by_itself_if_the_settings_say_so() {
    let place = with_runs();
    place.write(
        "edgewise.toml",
        "[retention]\nolder_than = \"0s\"\nstate = \"complete\"\nwhere = \"-label.team=core\"\n",
    );
    place.write("slow.yaml", "{ flow: slow, tasks: { a: { run: sleep 1 } } }");
    place.good(&["run", "slow.yaml", "--wait"]);
    let flows: Vec<Value> = place.json(&["runs", "state:over", "--json"]).iter().map(|r| r["labels"].clone()).collect();
    assert!(flows.iter().all(|labels| labels["team"] != "web"), "{flows:?}");
    assert_eq!(place.json(&["runs", "label.team=core", "--json"]).len(), 1);
    place.write("edgewise.toml", "[retention]\nolder_than = \"soon\"\n");
    let refused = place.run(&["runs"]);
    assert!(refused.code == 2 && refused.err.contains("`older_than` of [retention]"), "{refused:?}");
    place.write("edgewise.toml", "[retention]\nolder = \"1d\"\n");
    assert_eq!(place.run(&["runs"]).code, 2);
}

#[test]
fn the_same_start_is_the_same_run_if_the_flow_or_the_caller_says_so() {
    let place = Place::new(&[("quick.yaml", QUICK)]);
    let start = |words: &[&str]| {
        let told = place.good(&[&["run", "quick.yaml", "--detach", "--json"], words].concat()).out;
        serde_json::from_str::<Value>(&told).unwrap()["run"].clone()
    };
    let strict = start(&["--identity", "strict"]);
    assert_eq!(start(&["--identity", "strict"]), strict);
    assert_ne!(start(&[]), strict);
    assert_eq!(place.run(&["run", "quick.yaml", "--identity", "strict", "--key", "x"]).code, 2);
    place.write("quick.yaml", &QUICK.replace("flow: quick,", "flow: quick, identity: strict,"));
    assert_eq!(start(&[]), strict);
    assert_ne!(start(&["--identity", "always_unique"]), strict);
}
