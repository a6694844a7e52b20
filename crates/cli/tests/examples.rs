//! Every example is laid out, passes its check without a warning and its cases, and runs if nothing but a shell is needed.

use std::path::PathBuf;
use std::process::Command;

/// Examples whose actions are those of a worker: nothing here offers them.
const NEED_A_WORKER: [&str; 1] = ["rate-limit.flow"];
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
fn edgewise(data: &std::path::Path, words: &[&str]) -> (i32, String) {
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
        if NEED_A_WORKER.contains(&file.as_str()) || file == "rollout.flow" {
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
