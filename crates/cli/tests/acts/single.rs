//! One process: what scripts get from `edgewise run`.

use crate::process::Project;
use serde_json::Value;

const HELLO: &str = "\
flow: hello
inputs: { name: { type: string, default: world }, times: { type: integer, default: 1 } }
tasks:
  greet: { run: 'echo \"Hello, $NAME!\"', env: { NAME: '${{ inputs.name }}' } }
output: ${{ tasks.greet.output }}
";

fn hello() -> Project {
    let project = Project::new();
    std::fs::write(project.path().join("hello.yaml"), HELLO).unwrap();
    project
}

#[test]
fn the_output_is_data_and_the_progress_is_talk() {
    let project = hello();
    let ended = project.run("run hello.yaml -i name=Ada");
    ended.says(0, "Hello, Ada!");
    assert!(ended.err.contains("greet  succeeded"), "{}", ended.err);
    assert!(!project.has(".edgewise/engine.sock"), "nothing listens any more");
    assert!(project.has(".edgewise/.gitignore"));
}

#[test]
fn programs_get_one_json_value_and_scripts_an_id() {
    let project = hello();
    let ended = project.run("run hello.yaml --json");
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert_eq!((&value["phase"], &value["output"]), (&"succeeded".into(), &"Hello, world!".into()));
    let ended = project.run("run hello.yaml -q");
    assert_eq!((ended.code, ended.out.trim().len(), ended.err.as_str()), (0, 16, ""));
}

#[test]
fn a_failed_run_ends_with_one_and_says_where_to_look() {
    let project = Project::new();
    project.flow("bad", "  a: { run: 'echo oh no >&2; exit 3', retry: 1 }\n  b: { after: a, run: 'touch b' }\n");
    let ended = project.run("run bad.yaml");
    ended.says(1, "");
    assert!(ended.err.contains("a: exit_3: oh no") && ended.err.contains("edgewise logs "), "{}", ended.err);
    assert!(!project.has("b"));
    let ended = project.run("run bad.yaml --json");
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&value["state"], &value["failed"][0]["type"]), (&"Error".into(), &"exit_3".into()));
}

#[test]
fn a_task_that_is_over_is_not_said_to_write_later() {
    let project = Project::new();
    project.flow("mute", "  a: { run: 'exit 3', retry: 1 }\n  b: { after: a, run: 'echo b' }\n");
    assert_eq!(project.run("run mute.yaml").code, 1);
    assert!(project.run("logs @ a").err.contains("`a` wrote nothing"));
    assert!(project.run("logs @ b").err.contains("`b` never ran"));
    let resumed = project.run("resume @");
    assert_eq!(resumed.code, 4, "{resumed:?}");
}

#[test]
fn failures_that_were_answered_are_not_among_those_a_run_failed_of() {
    let project = Project::new();
    let tasks = "  a: { run: 'exit 1', retry: 1 }\n  heal: { after: { a: failed }, run: 'true' }\n  \
                 some: { each: [1, 2], as: n, run: 'exit 2', retry: 1, tolerate: 2 }\n  \
                 z: { after: [heal, some], run: 'exit 3', retry: 1 }\n";
    project.flow("mixed", tasks);
    let ended = project.run("run mixed.yaml --json");
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let failed: Vec<&Value> = value["failed"].as_array().unwrap().iter().map(|f| &f["task"]).collect();
    assert_eq!((ended.code, failed), (1, vec![&Value::from("z")]));
}

#[test]
fn what_is_wrong_is_found_before_anything_is_written() {
    let project = hello();
    std::fs::write(project.path().join("bad.yaml"), "flow: bad\ntasks:\n  a: { rnu: x }\n").unwrap();
    for (line, code, said) in [
        ("run bad.yaml", 2, "rnu"),
        ("run nope.yaml", 3, "nope.yaml could not be read"),
        ("run .", 2, ". could not be read"),
        ("run hello.yaml/x", 2, "could not be read"),
        ("run hello.yaml -i nmae=x", 2, "did you mean `name`?"),
        ("run hello.yaml -i times=x", 2, "expects an integer"),
        ("run hello.yaml -i name=a -i name=b", 2, "given twice"),
        ("watch", 3, "there are no runs"),
        ("cancel @", 3, "there are no runs"),
        ("gate approve @ x", 3, "there are no runs"),
    ] {
        let ended = project.run(line);
        assert_eq!(ended.code, code, "{line}: {ended:?}");
        assert!(ended.err.contains(said), "{line}: {}", ended.err);
        assert!(!project.has(".edgewise"), "{line}");
    }
}

#[test]
fn a_number_may_be_typed_as_one() {
    hello().run("run hello.yaml -i times=3").says(0, "Hello, world!");
    hello().run("run hello.yaml -i times:=3").says(0, "Hello, world!");
}

#[test]
fn the_same_key_is_the_same_run_and_another_body_is_refused() {
    let project = hello();
    let first = project.run("run hello.yaml --key k -q");
    let again = project.run("run hello.yaml --key k -q");
    assert_eq!((first.code, again.code, &first.out), (0, 0, &again.out));
    assert_eq!(project.run("run hello.yaml --key other -q").code, 0);
    let other = project.run("run hello.yaml --key k -i name=x");
    assert_eq!(other.code, 4, "{other:?}");
    assert!(other.err.contains("use another key"), "{}", other.err);
    project.run("watch").says(0, "Hello, world!");
}

#[test]
fn commands_run_in_the_folder_of_the_project() {
    let project = Project::new();
    project.flow("where", "  w: { run: pwd }\noutput: ${{ tasks.w.output }}\n");
    project.run("init");
    std::fs::create_dir(project.path().join("deep")).unwrap();
    let mut command = project.command("run ../where.yaml");
    let output = command.current_dir(project.path().join("deep")).output().unwrap();
    let here = project.path().canonicalize().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), here.to_str().unwrap());
}

#[test]
fn a_folder_that_cannot_be_used_is_said_to_be_so() {
    let project = hello();
    std::fs::write(project.path().join("file"), "").unwrap();
    let ended = project.run("run hello.yaml --dir file/data");
    assert_eq!(ended.code, 7, "{ended:?}");
    assert!(ended.err.contains("file/data cannot be used") && ended.err.contains("--dir"), "{}", ended.err);
}

#[test]
fn a_read_only_folder_is_said_to_be_so() {
    use std::os::unix::fs::PermissionsExt;
    let project = hello();
    let closed = project.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(closed.join("probe"), "").is_ok() {
        // Whoever runs the tests may write everywhere.
        return;
    }
    for line in ["run hello.yaml --dir closed/data", "run hello.yaml --dir closed", "add x --dir closed"] {
        let ended = project.run(line);
        assert_eq!(ended.code, 5, "{line}: {ended:?}");
        assert!(ended.err.contains("check its permissions"), "{line}: {}", ended.err);
    }
}
