//! Every example is laid out, passes its check without a warning and its cases, and runs to its end: with nothing but a
//! shell, with a person who approves, or with a worker that offers its actions.

use edgewise_core::event::Failure;
use edgewise_core::flow::compile_file;
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;
use edgewise_engine::Home;
use edgewise_engine::command::Start;
use edgewise_engine::engine::{Engine, Parts, wall_clock};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::handler::Handlers;
use edgewise_engine::queues::Queues;
use edgewise_engine::worker::Worker;
use edgewise_store::sqlite;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Examples that need more than a shell; each has a test of its own.
const NEED_MORE: [&str; 2] = ["rate-limit.flow", "rollout.flow"];
/// What is typed after the file, where there is something to say; and how it ends.
const RUNS: [(&str, &[&str], i32, &str); 4] = [
    ("saga.flow", &["-i", "full=hotel"], 1, "failed with TripFailed: no hotel left"),
    ("poll.flow", &["-i", "looks=2"], 1, "failed with TooSlow: not done after 2 looks"),
    ("deploy.yaml", &["-i", "branch=main"], 0, "deployed to us"),
    ("rollout.flow", &["--timeout", "200ms"], 124, "is kept"),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The files of the examples with one of these endings.
fn files(endings: &[&str]) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_flow = |name: &String| !name.ends_with(".test.yaml") && endings.iter().any(|ending| name.ends_with(ending));
    let mut names: Vec<String> = names.filter(is_flow).collect();
    names.sort_unstable();
    names
}

/// Runs the binary among the examples, its data elsewhere: exit code and all that it says.
fn edgewise(data: &Path, words: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
    command.current_dir(folder()).args(words).env("HOME", data).env_remove("XDG_CONFIG_HOME");
    for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("EDGEWISE_")) {
        command.env_remove(key);
    }
    let output = command.env("EDGEWISE_DIR", data.join("data")).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[test]
fn every_example_is_laid_out_checked_and_has_cases_that_pass() {
    let data = tempfile::tempdir().unwrap();
    let flows = files(&[".flow", ".yaml"]);
    assert!(flows.len() >= 12, "{flows:?}");
    for file in &flows {
        let (code, said) = edgewise(data.path(), &["check", file]);
        assert!(code == 0 && !said.contains("warning"), "{said}");
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        assert!(text.starts_with("# ") && text.contains(&format!("examples/{file}")), "{file} says what it shows");
    }
    let programs = files(&[".flow"]);
    let words: Vec<&str> = ["fmt", "--check"].into_iter().chain(programs.iter().map(String::as_str)).collect();
    assert_eq!(edgewise(data.path(), &words).0, 0, "all programs are laid out");
    let words: Vec<&str> = ["test"].into_iter().chain(flows.iter().map(String::as_str)).collect();
    let (code, said) = edgewise(data.path(), &words);
    assert!(code == 0 && said.contains(" passed, 0 failed"), "{said}");
    let listed = std::fs::read_to_string(folder().join("README.md")).unwrap();
    flows.iter().for_each(|file| assert!(listed.contains(&format!("`{file}`")), "README.md lists {file}"));
}

#[test]
fn every_example_that_needs_only_a_shell_runs() {
    for file in files(&[".flow", ".yaml"]) {
        if NEED_MORE.contains(&file.as_str()) {
            continue;
        }
        let data = tempfile::tempdir().unwrap();
        let file = if file == "helpers.flow" { "helpers.flow#weekday".to_owned() } else { file };
        let (code, said) = edgewise(data.path(), &["run", &file, "--wait"]);
        assert_eq!(code, 0, "{file}: {said}");
    }
}

#[test]
fn examples_end_as_they_say() {
    for (file, words, code, says) in RUNS {
        let data = tempfile::tempdir().unwrap();
        let (found, said) = edgewise(data.path(), &[&["run", file, "--wait"], words].concat());
        assert!(found == code && said.contains(says), "{file} {words:?}: {found} {said}");
    }
}

#[test]
fn a_rollout_goes_on_when_somebody_approves() {
    let data = tempfile::tempdir().unwrap();
    let (code, said) = edgewise(data.path(), &["run", "rollout.flow", "--detach", "-q"]);
    assert_eq!(code, 0, "{said}");
    let run = said.trim();
    let (code, said) = edgewise(data.path(), &["gate", "approve", run, "approval", "--as", "lead"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = edgewise(data.path(), &["watch", run]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = edgewise(data.path(), &["show", run]);
    assert!(code == 0 && said.contains(r#"{"out":["eu","us","asia"]}"#), "{said}");
}

/// An engine that keeps all in a folder.
fn engine(folder: &Path) -> Engine {
    let stores = sqlite::open(folder).unwrap();
    let name = |text: &str| Name::parse(text).unwrap();
    Engine::start(Parts {
        ledger: Box::new(stores.ledger),
        reader: Box::new(sqlite::open_reader(folder).unwrap().projections),
        writer: Box::new(stores.projections),
        home: Home { tenant: name("local"), workspace: name("default") },
        clock: Arc::new(wall_clock),
        entropy: Entropy::from_system().unwrap(),
        queues: Queues::default(),
    })
    .unwrap()
}

/// The service of the example: the second page is asked for twice, because it is busy the first time.
fn service(asked: &Arc<Mutex<Vec<u64>>>) -> Handlers {
    let asked = Arc::clone(asked);
    Handlers::default().on(Name::parse("api.get").unwrap(), move |task| {
        let page = task.input["page"].as_u64().unwrap();
        let again = {
            let mut asked = asked.lock().unwrap();
            asked.push(page);
            asked.iter().filter(|other| **other == page).count() > 1
        };
        async move {
            if page == 2 && !again {
                return Err(Failure { retry_after: Some(Millis(1)), ..Failure::new("RateLimited", "come back") });
            }
            Ok(json!({"rows": [page * 10]}))
        }
    })
}

#[test]
fn pages_are_fetched_by_a_worker_that_offers_the_action() {
    let text = std::fs::read_to_string(folder().join("rate-limit.flow")).unwrap();
    let plan = compile_file(&text, "rate-limit.flow").unwrap_or_else(|problems| panic!("{problems}")).remove(0).plan;
    let input = serde_json::value::to_raw_value(&json!({"pages": [1, 2, 3]})).unwrap();
    let (data, asked) = (tempfile::tempdir().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let engine = engine(data.path());
        let worker =
            Worker { handlers: service(&asked), commands: None, http: None, secrets: Default::default(), slots: 2 };
        let worker = worker.start(&engine);
        let by = Name::parse("me").unwrap();
        let start =
            Start { plan: Arc::new(plan), children: Vec::new(), input, by, key: None, labels: Default::default() };
        let (run, _) = engine.start_run(start).await.unwrap();
        assert_eq!(engine.wait(run).await.unwrap(), RunState::Complete);
        worker.stop(Duration::from_secs(1)).await;
        engine.stop().unwrap();
    });
    assert_eq!(*asked.lock().unwrap(), [1, 2, 2, 3]);
}
