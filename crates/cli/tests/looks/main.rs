//! The commands that look, asked of the real binary about folders that a real engine has written.

mod damage;
mod ground;
mod insight;

use ground::{Ground, LOUD, PROGRAM, RAISES, story};

#[tokio::test]
async fn runs_are_listed_filtered_and_told_to_programs() {
    let ground = story().await;
    ground.golden(
        "runs.txt",
        &[
            "runs",
            "runs --state waiting,ready",
            "runs --flow release --limit 1 -q",
            "runs --flow nothing",
            "runs --state failed -o jsonl",
            "runs --state failed -o json",
        ],
    );
}

#[tokio::test]
async fn a_run_is_shown_with_its_tasks() {
    let ground = story().await;
    let lines = ["show $1", "show $1 --all", "show $2", "show $3", "show $4", "show $5", "show $3 -o jsonl"];
    ground.golden("show.txt", &lines);
}

#[tokio::test]
async fn the_ledger_of_a_run_is_expanded() {
    let ground = story().await;
    let lines = ["events $1", "events $1 --task test[2]", "events $2 --task approve -o jsonl", "events $5 --json"];
    ground.golden("events.txt", &lines);
}

#[tokio::test]
async fn every_transition_is_in_the_history() {
    let ground = story().await;
    let lines = ["history $3", "history $1 publish", "history $3 fetch -o jsonl", "history $2 approve", "history $4"];
    ground.golden("history.txt", &[&lines[..], &["history $5 -o jsonl"]].concat());
}

#[tokio::test]
async fn reasons_are_a_tree_that_ends_at_who_can_move_it() {
    let ground = story().await;
    let asked =
        ["why $1", "why $1 notify", "why $2", "why $2 notify", "why $3 parse", "why $4", "why $5", "why $5 test"];
    ground.golden("why.txt", &[&asked[..], &["why $6 parse", "why $3 parse -o json"]].concat());
}

#[tokio::test]
async fn flows_and_runs_are_drawn() {
    let ground = story().await;
    std::fs::write(ground.folder.path().join("release.yaml"), ground::RELEASE).unwrap();
    std::fs::write(ground.folder.path().join("bad.yaml"), "flow: bad\ntasks:\n  a: { run: x, aftr: b }\n").unwrap();
    let lines = ["graph release.yaml", "graph $1", "graph $2", "graph $3", "graph $5", "graph $6 -q"];
    let forms = ["graph $2 --format dot", "graph $2 --format mermaid", "graph $2 --format svg", "graph $2 -o jsonl"];
    let wrong = ["graph bad.yaml", "graph none.yaml", "graph ../up", "graph zzzz", "graph release.yaml --to x.png"];
    ground.golden("graph.txt", &[&lines[..], &forms, &wrong].concat());
}

#[test]
fn a_picture_is_written_to_the_file_that_was_named() {
    let ground = Ground::new();
    let path = |name: &str| ground.folder.path().join(name);
    std::fs::write(path("release.yaml"), ground::RELEASE).unwrap();
    for (line, file, begins) in [
        ("graph release.yaml --to a.svg", "a.svg", "<svg "),
        ("graph release.yaml --to a.mmd", "a.mmd", "---\ntitle: \"release\""),
        ("graph release.yaml --to a.gv", "a.gv", "digraph "),
        ("graph release.yaml --to a.txt", "a.txt", "release\n"),
        ("graph release.yaml --to picture --format json", "picture", "{\n"),
    ] {
        let (code, out, err) = ground.ask(line);
        assert_eq!((code, out.as_str()), (0, ""), "{line}: {err}");
        assert!(err.contains(&format!("{file} is written")), "{err}");
        let text = std::fs::read_to_string(path(file)).unwrap();
        assert!(text.starts_with(begins), "{file}: {text}");
    }
    let (code, _, err) = ground.ask("graph release.yaml --to no/such/folder.svg");
    assert_eq!(code, 3, "{err}");
    let (code, _, err) = ground.ask("graph release.yaml --format png");
    assert_eq!(code, 2);
    assert!(err.contains("text, svg, dot, mermaid, json"), "{err}");
    let (_, out, _) = ground.ask("graph release.yaml -o jsonl");
    assert_eq!(out.lines().count(), 1);
    let plain = ground.command("graph release.yaml").env("LC_ALL", "C").output().unwrap();
    assert!(plain.stdout.is_ascii(), "{}", String::from_utf8_lossy(&plain.stdout));
}

/// The terminal picture in the reference; `UPDATE_GOLDEN=1` writes it anew.
#[test]
fn the_reference_shows_what_is_drawn() {
    let ground = Ground::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("docs/reference/graph.md");
    let document = std::fs::read_to_string(&file).unwrap();
    let (_, drawn, _) = ground.ask(&format!("graph {}", root.join("examples/release.yaml").display()));
    let (before, rest) = document.split_once("```text\n").unwrap();
    let (_, after) = rest.split_once("```").unwrap();
    let shown = format!("{before}```text\n$ edgewise graph examples/release.yaml\n{drawn}```{after}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &shown).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == shown, "UPDATE_GOLDEN=1 accepts it:\n{shown}");
}

#[tokio::test]
async fn gates_that_wait_are_listed_with_what_to_type() {
    let ground = story().await;
    ground.golden("gates.txt", &["gate list", "gate list $2 -o jsonl", "gate list $3", "gate list -q"]);
}

#[tokio::test]
async fn logs_are_printed_and_never_obeyed() {
    let mut ground = Ground::new();
    let mut engine = ground.engine();
    let run = engine.start(LOUD).await;
    engine.run_commands(run).await;
    let lines =
        ["logs @", "logs @ first", "logs @ second", "logs @ first -q", "logs @ bad --attempt 2", "logs @ frist"];
    ground.golden("logs.txt", &lines);
    let (code, out, _) = ground.ask("logs @ first --raw");
    assert_eq!((code, out.as_str()), (0, "one\n\u{1b}[31mred\u{1b}[0m\n"), "unless it is asked for");
    assert_eq!(ground.ask("logs @ --raw").0, 2);
    let (code, out, _) = ground.ask("logs @ first -o jsonl");
    let texts: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| format!("{}: {}", line["stream"].as_str().unwrap(), line["text"].as_str().unwrap()))
        .collect();
    assert_eq!(code, 0);
    assert!(texts.contains(&"stdout: \u{1b}[31mred\u{1b}[0m".to_owned()), "programs get it as it was: {texts:?}");
    let (_, out, _) = ground.ask("logs @ --color always");
    assert!(out.contains("\\u{1b}[31mred"), "{out}");
    assert!(out.contains("\u{1b}[2mno\u{1b}[0m"), "stderr is dim: {out}");
}

#[test]
fn flows_are_checked_without_a_project() {
    let ground = Ground::new();
    std::fs::write(ground.folder.path().join("good.yaml"), ground::RELEASE).unwrap();
    let bad = "flow: bad\ntasks:\n  a: { run: x, aftr: b }\n  b: { run: x, after: c }\n";
    std::fs::write(ground.folder.path().join("bad.yaml"), bad).unwrap();
    let odd = "flow: odd\ntasks:\n  a: { run: x, retry: { retryable: false, max_attempts: 3 } }\n";
    std::fs::write(ground.folder.path().join("odd.yaml"), odd).unwrap();
    let lines = ["check good.yaml", "check bad.yaml", "check odd.yaml", "check bad.yaml --json", "check none.yaml"];
    ground.golden("check.txt", &lines);
}

#[test]
fn programs_are_laid_out() {
    let ground = Ground::new();
    let file = |name: &str| ground.folder.path().join(name);
    for (name, text) in [
        ("good.flow", "flow f(a):\n    return a + 1\n"),
        ("odd.flow", "flow f( a ):\n  return a+1 # sum\n"),
        ("bad.flow", "flow f(a):\n    x = a and 1\n    import b\n"),
        ("some.yaml", "flow: f\n"),
    ] {
        std::fs::write(file(name), text).unwrap();
    }
    std::fs::write(file("latin.flow"), b"# \xe9\n").unwrap();
    let lines = [
        "fmt good.flow --check",
        "fmt good.flow odd.flow --check",
        "fmt good.flow odd.flow --check --json",
        "fmt odd.flow bad.flow --check -q",
        "fmt odd.flow some.yaml latin.flow none.flow",
        "fmt odd.flow --check",
        "fmt odd.flow -o jsonl",
    ];
    ground.golden("fmt.txt", &lines);
    assert_eq!(std::fs::read_to_string(file("odd.flow")).unwrap(), "flow f(a):\n    return a + 1  # sum\n");
    assert_eq!(std::fs::read_to_string(file("bad.flow")).unwrap().lines().count(), 3, "it is left as it was");
    for (line, code, out) in [("fmt -", 0, "flow f():\n    pass\n"), ("fmt - --check -q", 1, "<stdin>\n")] {
        std::fs::write(file("in"), "flow f() :\n  pass").unwrap();
        let mut command = ground.command(line);
        let output = command.stdin(std::fs::File::open(file("in")).unwrap()).output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stdout).unwrap().as_str()),
            (Some(code), out),
            "{line}"
        );
    }
}

#[tokio::test]
async fn a_program_is_shown_where_it_went_and_its_past_rounds_are_still_known() {
    let mut ground = Ground::new();
    for flow in [PROGRAM, RAISES] {
        let mut engine = ground.engine();
        let run = engine.start(flow).await;
        engine.run_commands(run).await;
    }
    let lines = [
        "show $1",
        "show $1 --all",
        "show $1 for#0.got",
        "show $1 for#0.got --json",
        "show $1 for#7.got",
        "why $1 for#1.got",
        "why $1 if",
        "logs $1",
        "logs $1 for#1",
        "logs $1 for#1.got",
        "logs $1 for",
        "history $1 for#0.got",
        "events $1 --task try!1.run",
        "show $2",
        "why $2",
        "watch $1 --json",
        "watch $2 --json",
        "runs",
    ];
    ground.golden("programs.txt", &lines);
    let (code, out, _) = ground.ask("doctor --verify");
    assert_eq!(code, 0, "rows of loops are as they should be: {out}");
    let (code, _, err) = ground.ask("watch $2");
    assert_eq!(code, 1);
    assert!(err.contains("failed with Broken: nothing helped, caused by exit_4: the command"), "{err}");
}

#[test]
fn flow_files_may_hold_several_flows_and_one_is_named() {
    let ground = Ground::new();
    let write = |file: &str, text: &str| std::fs::write(ground.folder.path().join(file), text).unwrap();
    write("two.flow", "flow load():\n    @run(script=\"echo loaded\")\n\nflow clean():\n    pass\n");
    write("bad.flow", "flow bad(name):\n    @run(script=\"echo \" + name)\n    @run(output=\"jsn\", script=\"x\")\n");
    write("noise.txt", "hello\n");
    let lines = [
        "check two.flow",
        "check two.flow --json",
        "check two.flow#clean",
        "check bad.flow",
        "check noise.txt",
        "run two.flow",
        "run two.flow#laod",
        "run two.flow#clean --json",
        "plan two.flow#load",
        "plan two.flow#load --json",
        "graph two.flow#load",
        "graph two.flow",
    ];
    let (before, after) = lines.split_at(7);
    ground.golden("files.txt", &[before, &after[1..]].concat());
    assert_eq!(ground.ask(after[0]).0, 0);
}

#[test]
fn cases_are_performed_and_what_differs_is_told() {
    let ground = Ground::new();
    let write = |file: &str, text: &str| std::fs::write(ground.folder.path().join(file), text).unwrap();
    write("load.flow", "flow load(n: int = 1):\n    x = @get(n=n)\n    sleep 1h\n    return {\"x\": x, \"n\": n}\n");
    let good = "  good: { expect: { output: { x: 7, n: 1 }, elapsed: 1h } }\n";
    let bad = "  bad: { input: { n: 2 }, expect: { output: { x: 8, n: 2 }, elapsed: 2h, effects: [get: { n: 3 }] } }\n";
    write("load.test.yaml", &format!("stubs: {{ get: {{ returns: 7 }} }}\ncases:\n{good}{bad}"));
    write("odd.flow", "flow odd():\n    pass\n");
    write("odd.test.yaml", "cases:\n  it: { stubs: { get: {} }, expcet: {} }\n");
    write("alone.flow", "flow alone():\n    pass\n");
    let lines = [
        "test load.flow",
        "test load.test.yaml --filter good",
        "test load.flow --filter nothing",
        "test load.flow --filter bad --json",
        "test load.flow -q",
        "test odd.flow",
        "check odd.test.yaml",
        "test alone.flow",
        "test none.flow",
    ];
    ground.golden("test.txt", &lines);
}

#[tokio::test]
async fn what_is_not_there_is_said_with_what_to_do() {
    let ground = Ground::new();
    let all = [
        "runs",
        "show @",
        "graph @",
        "events @",
        "history @",
        "logs @",
        "why @",
        "timing @",
        "what-if @ cancel",
        "gate list",
        "doctor",
    ];
    for line in all {
        let (code, out, err) = ground.ask(line);
        assert_eq!((code, out.as_str()), (3, ""), "{line}");
        assert!(err.contains("edgewise init"), "{line}: {err}");
    }
    std::fs::create_dir(ground.data()).unwrap();
    for line in all {
        let (code, _, err) = ground.ask(line);
        assert_eq!(code, 3, "{line}");
        assert!(err.contains("next: edgewise run FILE"), "{line}: {err}");
    }
    let ground = story().await;
    let lines = ["show zzzz", "why $3 pasre", "events $3 --task nothing-like-it", "logs $3 fetch", "logs $2 approve"];
    ground.golden("missing.txt", &lines);
}

#[tokio::test]
async fn a_beginning_that_fits_several_runs_is_a_conflict() {
    let mut ground = Ground::new();
    let mut engine = ground.engine();
    // One more than there are first characters, so two begin alike.
    for _ in 0..33 {
        engine.start(ground::FLAKY).await;
    }
    engine.stop();
    let firsts: Vec<char> = ground.runs.iter().filter_map(|run| run.to_string().chars().next()).collect();
    let twice = firsts.iter().find(|c| firsts.iter().filter(|d| d == c).count() > 1).unwrap();
    let (code, _, err) = ground.ask(&format!("show {twice}"));
    assert_eq!(code, 4);
    assert!(err.contains("could be any of"), "{err}");
}

#[tokio::test]
async fn without_rows_everything_is_folded_from_the_ledger_and_says_the_same() {
    let ground = story().await;
    let all = ["runs -o jsonl", "show $2 --json", "why $2 notify --json", "gate list -o jsonl"];
    let before = all.map(|line| ground.ask(line));
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
        let _ = std::fs::remove_file(ground.file(file));
    }
    assert_eq!(all.map(|line| ground.ask(line)), before);
}
