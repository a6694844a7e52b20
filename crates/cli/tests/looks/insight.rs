//! Insight: the past of a run, what would happen, where the time went, attempts side by side; and the guide to it.

use crate::ground::{Ground, story};

#[tokio::test]
async fn a_run_is_shown_as_it_was() {
    let ground = story().await;
    let lines = [
        "show $1 --at 4",
        "show $1 --at 2099-01-31T12:00:30Z",
        "show $1 build --at 3",
        "show $3 --at 2 -o jsonl",
        "why $1 --at 4",
        "why $1 notify --at 4",
        "graph $1 --at 4",
        "show $1 --at 99",
        "show $1 --at 2099-01-31T11:00:00Z",
        "show $1 test[2] --at 2",
        "show $1 --at yesterday",
    ];
    ground.golden("past.txt", &lines);
    std::fs::write(ground.folder.path().join("release.yaml"), crate::ground::RELEASE).unwrap();
    let (code, _, err) = ground.ask("graph release.yaml --at 4");
    assert_eq!(code, 2);
    assert!(err.contains("is a flow"), "{err}");
}

#[tokio::test]
async fn the_last_event_of_the_past_is_the_present() {
    let ground = story().await;
    for run in ["$1", "$2", "$3"] {
        let json = |line: String| -> serde_json::Value { serde_json::from_str(&ground.ask(&line).1).unwrap() };
        let now = json(format!("show {run} --json"));
        let mut then = json(format!("show {run} --json --at {}", now["seq"]));
        assert!(then.as_object_mut().unwrap().remove("as_of").is_some());
        assert_eq!(then, now);
    }
}

#[tokio::test]
async fn what_would_happen_is_said_and_nothing_is_written() {
    let ground = story().await;
    let before = ground.ask("events $2 -o jsonl");
    let lines = [
        "what-if $2 approve=approve:quality",
        "what-if $2 approve=reject --to-end",
        "what-if $2 +2d --to-end",
        "what-if $3 fetch=fail-once",
        "what-if $3 fetch=fail:http_404",
        "what-if $4 resume fetch=ok",
        "what-if $1 test[2]=reset test[2]=ok",
        "what-if $6 cancel --as op",
        "what-if $6 pause",
        "what-if $3 fetch=skip -o json --as op",
        "what-if $4 fetch=ok",
        "what-if $2 approve=approve:ada",
        "what-if $2 publish=ok",
        "what-if $5 build=ok",
        "what-if $2 aprove=ok",
        "what-if $2 approve=maybe",
        "what-if $2",
    ];
    ground.golden("what_if.txt", &lines);
    assert_eq!(ground.ask("events $2 -o jsonl"), before);
}

#[tokio::test]
async fn where_the_time_went_is_shown() {
    let ground = story().await;
    ground.golden(
        "timing.txt",
        &["timing $1", "timing $1 --all", "timing $2", "timing $5", "timing $1 -o jsonl", "timing $1 -q"],
    );
}

#[tokio::test]
async fn attempts_stand_side_by_side() {
    let mut ground = Ground::new();
    let mut engine = ground.engine();
    let flow = "flow: tries\ntasks:\n  a: { run: 'echo no $EDGEWISE_ATTEMPT >&2; exit 3', \
                retry: { max_attempts: 2, backoff: { kind: fixed, base: 0s }, jitter: 0 } }\n";
    let run = engine.start(flow).await;
    engine.run_commands(run).await;
    let (code, out, _) = ground.ask("show @ a");
    assert_eq!(code, 0);
    let table: Vec<&str> = out.lines().skip_while(|line| !line.contains("TRY")).collect();
    assert_eq!(table.len(), 3, "{out}");
    assert!(
        table[2].trim_start().starts_with("2 ") && table[2].contains("message") && table[2].contains("no 2"),
        "{out}"
    );
    let (_, out, _) = ground.ask("show @ a --json");
    let task: serde_json::Value = serde_json::from_str(&out).unwrap();
    let attempts = task["attempts"].as_array().unwrap();
    assert_eq!((attempts.len(), &attempts[1]["differs"]), (2, &serde_json::json!(["message"])));
    assert_eq!(attempts[0]["failure"]["type"], "exit_3");
    let (_, out, _) = ground.ask("show @ a --json --at 3");
    let task: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(task["attempts"].as_array().unwrap().len(), 1, "as far as they had come then: {out}");
}

/// Every block of the guide is a command and what it prints about the runs of the story; `UPDATE_GOLDEN=1` writes them anew.
#[tokio::test]
async fn the_guide_shows_what_is_printed() {
    let ground = story().await;
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/insight.md");
    let document = std::fs::read_to_string(&file).unwrap();
    let (mut shown, mut rest, mut blocks) = (String::new(), document.as_str(), 0);
    while let Some((before, after)) = rest.split_once("```text\n") {
        let (block, behind) = after.split_once("```").unwrap();
        let line = block.lines().next().and_then(|line| line.strip_prefix("$ edgewise ")).unwrap();
        let (_, out, err) = ground.ask(&named(line));
        shown += &format!("{before}```text\n$ edgewise {line}\n{}```", unnamed(&(out + &err)));
        (rest, blocks) = (behind, blocks + 1);
    }
    shown += rest;
    assert!(blocks >= 6, "the guide shows commands");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &shown).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == shown, "UPDATE_GOLDEN=1 accepts it:\n{shown}");
}

/// Ids as they stand in the guide, for the runs of the story.
const IDS: [&str; 6] = ["k3f9x2ab", "m8r2c7qe", "p5t1w9hz", "q0v6d3ys", "r7j4n8bk", "t2g5f1xm"];

fn named(line: &str) -> String {
    IDS.iter().enumerate().fold(line.replace('\'', ""), |line, (n, id)| line.replace(id, &format!("${}", n + 1)))
}

fn unnamed(text: &str) -> String {
    IDS.iter().enumerate().fold(text.to_owned(), |text, (n, id)| text.replace(&format!("run{}....", n + 1), id))
}
