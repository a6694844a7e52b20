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
    for line in ["--help", "-h", "--version", "init --help", "help"] {
        let (code, out, err) = run(folder.path(), line);
        assert!(code == 0 && !out.is_empty() && err.is_empty(), "{line}: {code} {err}");
    }
    for (typed, same) in [("help run", "run --help"), ("help gate approve", "gate approve -h")] {
        assert_eq!(run(folder.path(), typed), run(folder.path(), same), "{typed}");
    }
    let (code, _, err) = run(folder.path(), "help runn");
    assert!(code == 2 && err.contains("'run'"), "{err}");
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

#[test]
fn settings_are_shown_with_their_origin_to_people_and_programs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("edgewise.toml"), "\nworkers = 3\n").unwrap();
    let (code, out, _) = run(folder.path(), "config show --origin --color never");
    assert_eq!(code, 0);
    let line = out.lines().find(|line| line.starts_with("workers ")).unwrap();
    assert!(line.contains(" 3 ") && line.ends_with("edgewise.toml:2"), "{out}");
    assert!(out.lines().any(|line| line.starts_with("color ") && line.ends_with("--color")), "{out}");
    let (_, out, _) = run(folder.path(), "config show");
    assert!(!out.contains("edgewise.toml:2"), "only where it is asked for: {out}");
    let (_, out, _) = run(folder.path(), "config show --json");
    let all: Vec<serde_json::Value> = serde_json::from_str(&out).unwrap();
    let workers = all.iter().find(|shown| shown["setting"] == "workers").unwrap();
    assert_eq!((&workers["value"], &workers["origin"]["line"]), (&3.into(), &2.into()));
}

#[test]
fn completions_and_the_manual_come_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, err) = run(folder.path(), &format!("completion {shell}"));
        assert!(code == 0 && out.contains("what-if") && err.is_empty(), "{shell}: {err}");
    }
    let (code, out, _) = run(folder.path(), "man gate approve");
    assert!(code == 0 && out.contains("edgewise\\-gate\\-approve") && out.contains("comment"), "{out}");
    assert_eq!(run(folder.path(), "man frobnicate").0, 3);
    let (code, out, _) = run(folder.path(), "man --to man1");
    assert_eq!(code, 0, "{out}");
    for page in ["edgewise.1", "edgewise-run.1", "edgewise-gate-approve.1"] {
        assert!(folder.path().join("man1").join(page).is_file(), "{page}");
    }
}

/// All bytes of all files below a folder.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => bytes.extend(bytes_below(&entry.path())),
            kind if kind.is_file() => bytes.extend(std::fs::read(entry.path()).unwrap()),
            _ => {}
        }
    }
    bytes
}

/// Runs a flow whose tasks are given two secrets, print them and fail with them.
fn check_secrets(file: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), text).unwrap();
    std::fs::create_dir(folder.path().join("etc")).unwrap();
    std::fs::write(folder.path().join("etc/secrets"), "# ours\nFILED=filed-away\n").unwrap();
    std::fs::write(folder.path().join("edgewise.toml"), "secrets_file = \"etc/secrets\"\n").unwrap();
    let mut said = Vec::new();
    let lines =
        [format!("run {file}"), format!("run {file} --json"), "runs --json".into(), format!("run {file} --as ada")];
    for line in &lines {
        let mut command = edgewise(folder.path(), line);
        let Output { stdout, stderr, .. } = command.env("EDGEWISE_SECRET_TOKEN", "hush-hush-1").output().unwrap();
        said.extend([stdout, stderr].concat());
    }
    let kept = bytes_below(&folder.path().join(".edgewise"));
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for secret in ["hush-hush-1", "filed-away"] {
        assert!(!has(&kept, secret), "{secret} is kept somewhere");
        assert!(!has(&said, secret), "{secret} is printed somewhere");
    }
    assert!(has(&kept, "out Bearer ***") && has(&kept, "err ***"), "what came back is masked");
    assert!(has(&said, "***"), "{}", String::from_utf8_lossy(&said));
    let (_, tasks, _) = run(folder.path(), "why right --json");
    assert!(!tasks.contains("hush"), "{tasks}");
    let shown = String::from_utf8_lossy(&said).into_owned();
    assert!(!shown.contains("right failed"), "the script has both values: {shown}");
}

#[test]
fn a_secret_reaches_its_script_and_nothing_that_is_kept_or_printed() {
    let flow = r#"flow: f
secrets: [TOKEN, FILED]
tasks:
  right: { run: 'case "$T/$F/$EDGEWISE_SECRET_TOKEN" in "Bearer hush-"????-1/filed-????/) ;; *) exit 9 ;; esac', env: &env }
  says: { run: 'echo "out $T"; echo "err $F" >&2', env: &env }
  fails: { run: 'echo "$T" >&2; exit 3', env: &env, retry: 1 }
"#;
    let env = "{ T: 'Bearer ${{ secrets.TOKEN }}', F: '${{ secrets.FILED }}' }";
    check_secrets("f.yaml", &flow.replace("&env", env));
}

#[test]
fn a_secret_of_a_program_is_kept_and_printed_nowhere_either() {
    let flow = r#"flow f() [secrets: ["TOKEN", "FILED"]] [retry: 1]:
    right = @run(script="case \"$T/$F/$EDGEWISE_SECRET_TOKEN\" in \"Bearer hush-\"????-1/filed-????/) ;; *) exit 9 ;; esac", &env)
    says = @run(script="echo \"out $T\"; echo \"err $F\" >&2", &env)
    try:
        @run(script="echo \"$T\" >&2; exit 3", &env)
    except as e:
        raise Failed(e.message)
"#;
    check_secrets("f.flow", &flow.replace("&env", "T=\"Bearer \" + secrets.TOKEN, F=secrets.FILED"));
}

#[test]
fn a_secret_that_nobody_has_fails_its_task_with_where_to_put_it() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "flow: f\nsecrets: [NONE]\ntasks:\n  a: { run: 'true', env: { A: '${{ secrets.NONE }}' } }\n";
    std::fs::write(folder.path().join("f.yaml"), flow).unwrap();
    let (code, out, err) = run(folder.path(), "run f.yaml");
    assert_eq!(code, 1);
    let said = out + &err;
    assert!(said.contains("secret_missing") && said.contains("EDGEWISE_SECRET_NONE"), "{said}");
}

/// Runs a command line with something on stdin.
fn fed(folder: &Path, line: &str, text: &str) -> (i32, String, String) {
    let mut command = edgewise(folder, line);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

#[test]
fn a_flow_may_come_from_stdin() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = "flow: piped\ntasks:\n  a: { run: 'echo here > here' }\n";
    let (code, out, _) = fed(folder.path(), "check -", yaml);
    assert!(code == 0 && out.contains("1 task"), "{out}");
    let (code, out, _) = fed(folder.path(), "check - --json", "flow: piped\ntaks: {}\n");
    assert!(code == 2 && out.contains("\"file\": \"<stdin>\"") && out.contains("tasks"), "{out}");
    assert_eq!(fed(folder.path(), "run - --wait", yaml).0, 0);
    assert!(folder.path().join("here").is_file());
    let program = "flow load():\n    pass\n\nflow clean():\n    pass\n";
    let (code, _, err) = fed(folder.path(), "run - --wait", program);
    assert!(code == 2 && err.contains("say which one, `<stdin>#load`"), "{err}");
    assert_eq!(fed(folder.path(), "run <stdin>#load --wait", program).0, 0);
}

#[test]
fn a_slip_in_the_name_of_a_registered_flow_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let next = || run(folder.path(), "run nightli").2;
    assert!(next().contains("check the path of the flow") && !next().contains("registered"), "{}", next());
    std::fs::write(folder.path().join("n.yaml"), "flow: nightly\ntasks:\n  a: { run: 'true' }\n").unwrap();
    assert_eq!(run(folder.path(), "register n.yaml").0, 0);
    let (code, _, err) = run(folder.path(), "run nightli");
    assert!(code == 3 && err.contains("did you mean the registered flow `nightly`?"), "{err}");
    let (_, _, err) = run(folder.path(), "run release");
    assert!(err.contains("`edgewise flows` lists those that are registered"), "{err}");
}
