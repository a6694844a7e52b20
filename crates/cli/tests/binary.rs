//! The binary as scripts see it: exit codes, and what goes to which stream.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn edgewise(cwd: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
    command.current_dir(cwd).args(line.split_whitespace());
    // The tester's own settings are not ours.
    for name in ["EDGEWISE_DIR", "EDGEWISE_AS", "EDGEWISE_FORMAT", "EDGEWISE_COLOR", "EDGEWISE_WORKERS"] {
        command.env_remove(name);
    }
    command.env("HOME", cwd).env_remove("XDG_CONFIG_HOME");
    command
}

fn run(cwd: &Path, line: &str) -> (i32, String, String) {
    let Output { status, stdout, stderr } = edgewise(cwd, line).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn data_goes_to_stdout_and_talk_to_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = run(folder.path(), "init --demo");
    assert_eq!((code, out.as_str()), (0, "made edgewise.toml\nmade demo.yaml\nmade .edgewise\n"));
    assert_eq!(err, "next: edgewise run demo.yaml\n");
}

#[test]
fn what_is_in_the_way_is_a_conflict_in_words_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "init");
    let (code, out, err) = run(folder.path(), "init");
    assert_eq!((code, out.as_str()), (4, ""));
    assert!(err.starts_with("error: edgewise.toml already exists"), "{err}");
    let (code, _, err) = run(folder.path(), "init --json");
    let value: serde_json::Value = serde_json::from_str(&err).unwrap();
    assert_eq!((code, &value["error"]["code"]), (4, &"already_there".into()));
}

#[test]
fn wrong_usage_and_wrong_settings_end_with_two() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(folder.path(), "frobnicate").0, 2);
    assert_eq!(run(folder.path(), "").0, 2);
    let (code, out, err) = run(folder.path(), "init --frobnicate --json");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(serde_json::from_str::<serde_json::Value>(&err).is_ok(), "{err}");
    std::fs::write(folder.path().join("edgewise.toml"), "wrokers = 3\n").unwrap();
    let (code, _, err) = run(folder.path(), "init");
    assert_eq!(code, 2);
    assert!(err.contains("edgewise.toml:1: there is no setting `wrokers`"), "{err}");
    assert!(err.contains("next: did you mean `workers`?"), "{err}");
}

#[test]
fn help_and_version_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    for line in ["--help", "-h", "--version", "init --help"] {
        let (code, out, err) = run(folder.path(), line);
        assert!(code == 0 && !out.is_empty() && err.is_empty(), "{line}: {code} {err}");
    }
}

#[test]
fn a_reader_that_left_is_not_talked_about() {
    for line in ["init", "--help"] {
        let folder = tempfile::tempdir().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = edgewise(folder.path(), line).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{line}");
    }
}
