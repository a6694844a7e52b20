//! A folder with one engine: the lock, the socket, what is said on it, and what happens when the engine leaves.

use edgewise_core::Kind;
use edgewise_core::flow::compile;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_engine::command::{GateAct, RunAct, Start};
use edgewise_engine::folder::{Ask, Open, Options, Said, Work};
use edgewise_engine::{Door, Folder, Home};
use serde_json::Value;
use serde_json::value::RawValue;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

fn folder(dir: &tempfile::TempDir) -> Folder {
    Folder::at(dir.path().join("data"))
}

fn works(dir: &tempfile::TempDir) -> Options {
    let work = Work { project: dir.path().to_owned(), slots: 4, http: Default::default(), secrets: Default::default() };
    Options { home: Home::local(), work: Some(work), background: false, queues: Default::default() }
}

fn records() -> Options {
    Options { home: Home::local(), work: None, background: false, queues: Default::default() }
}

async fn engine(dir: &tempfile::TempDir) -> Open {
    folder(dir).open_engine(&works(dir)).await.unwrap().expect("nobody else is the engine")
}

fn ada() -> Name {
    Name::parse("ada").unwrap()
}

fn start(tasks: &str, key: Option<&str>) -> Start {
    let plan = compile(&format!("flow: f\ntasks:\n{tasks}"), "f.yaml").unwrap_or_else(|p| panic!("{p}")).plan;
    let input = RawValue::from_string("{}".into()).unwrap();
    Start {
        plan: Arc::new(plan),
        children: Vec::new(),
        input,
        by: ada(),
        key: key.map(Into::into),
        labels: Default::default(),
    }
}

const ASK: &str = "  ask: { gate: { approval: { count: 1 } } }\n";

fn approve(run: RunId) -> Ask {
    Ask::Approve(GateAct { run, task: "ask".into(), by: ada(), comment: None })
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn one_process_is_the_engine_and_the_folder_is_its_owners() {
    let dir = tempfile::tempdir().unwrap();
    let open = engine(&dir).await;
    let data = dir.path().join("data");
    assert_eq!((mode(&data), mode(&data.join("engine.sock"))), (0o700, 0o600));
    assert!(folder(&dir).open_engine(&works(&dir)).await.unwrap().is_none(), "there is one already");
    open.close().await.unwrap();
    assert!(!data.join("engine.sock").exists());
    engine(&dir).await.close().await.unwrap();
}

#[tokio::test]
async fn what_a_killed_engine_left_is_no_hindrance() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    drop(std::os::unix::net::UnixListener::bind(data.join("engine.sock")).unwrap());
    std::fs::write(data.join("engine.addr"), "/nowhere/edgewise-0/engine.sock").unwrap();
    assert!(folder(&dir).connect().await.unwrap().is_none(), "nobody listens there");
    let open = engine(&dir).await;
    assert!(folder(&dir).connect().await.unwrap().is_some());
    open.close().await.unwrap();
}

#[tokio::test]
async fn both_sides_of_the_door_are_alike() {
    let dir = tempfile::tempdir().unwrap();
    let mut inside = Door::open(folder(&dir), works(&dir)).await.unwrap();
    let mut outside = Door::open(folder(&dir), works(&dir)).await.unwrap();
    assert!(inside.engine().is_some() && outside.engine().is_none());
    let mut followed = None;
    for door in [&mut inside, &mut outside] {
        let (run, new) = door.start(start(ASK, None)).await.unwrap();
        assert!(new);
        followed.get_or_insert(run);
        let act = RunAct { run, by: ada(), why: None };
        assert!(door.act(Ask::Pause(act.clone())).await.unwrap());
        assert!(!door.act(Ask::Pause(act.clone())).await.unwrap(), "it was so already");
        assert!(door.act(Ask::Resume(act)).await.unwrap());
        assert!(door.act(approve(run)).await.unwrap());
        assert_eq!(door.wait(run).await.unwrap(), RunState::Complete);
        let error = door.wait(RunId(1)).await.unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::NotFound, "run_not_found"));
        assert_eq!(door.stays().await.unwrap(), (false, followed), "it is there for what its own process waits for");
    }
    let (first, _) = inside.start(start(ASK, Some("k"))).await.unwrap();
    assert_eq!(outside.start(start(ASK, Some("k"))).await.unwrap(), (first, false));
    outside.close().await.unwrap();
    inside.close().await.unwrap();
}

#[tokio::test]
async fn whoever_waits_becomes_the_engine_when_it_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let open = engine(&dir).await;
    let mut door = Door::open(folder(&dir), works(&dir)).await.unwrap();
    let (run, _) =
        door.start(start("  nap: { gate: { timer: 50ms } }\n  a: { after: nap, run: 'true' }\n", None)).await.unwrap();
    let waits = tokio::spawn(async move { (door.wait(run).await, door) });
    open.close().await.unwrap();
    let (ended, mut door) = waits.await.unwrap();
    assert_eq!(ended.unwrap(), RunState::Complete);
    assert!(door.engine().is_some());
    door.close().await.unwrap();
}

#[tokio::test]
async fn an_engine_that_only_records_starts_nothing_and_does_not_listen() {
    let dir = tempfile::tempdir().unwrap();
    let mut door = Door::open(folder(&dir), records()).await.unwrap();
    let (run, _) = door.start(start("  a: { run: 'touch a' }\n", None)).await.unwrap();
    let open = door.engine().unwrap();
    assert!(open.engine.is_idle().await.unwrap(), "nobody waits for work");
    assert!(folder(&dir).connect().await.unwrap().is_none());
    door.close().await.unwrap();
    assert!(!dir.path().join("a").exists());
    let mut door = Door::open(folder(&dir), works(&dir)).await.unwrap();
    assert_eq!(door.wait(run).await.unwrap(), RunState::Complete);
    assert!(dir.path().join("a").exists(), "whoever works goes on with it");
    door.close().await.unwrap();
}

#[tokio::test]
async fn an_engine_is_idle_when_only_people_could_move_something() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = engine(&dir).await;
    let gate = "  ask: { gate: { approval: { count: 1 }, deadline: 2d } }\n";
    let (timed, _) = open.engine.start_run(start(gate, None)).await.unwrap();
    assert!(!open.engine.is_idle().await.unwrap(), "the deadline would move it");
    let (run, _) = open.engine.start_run(start("  a: { run: 'true' }\n", None)).await.unwrap();
    open.engine.wait(run).await.unwrap();
    let command = GateAct { run: timed, task: "ask".into(), by: ada(), comment: None };
    open.engine.ask(edgewise_engine::command::Command::Approve(command)).await.unwrap();
    assert!(open.engine.is_idle().await.unwrap(), "a deadline that was met keeps nobody up");
    open.engine.start_run(start(ASK, None)).await.unwrap();
    open.idle(Duration::from_millis(1)).await.unwrap();
    assert!(folder(&dir).connect().await.unwrap().is_none(), "it listens no more");
    open.close().await.unwrap();
}

/// A conversation, line by line.
struct Talk(BufReader<UnixStream>);

impl Talk {
    async fn with(dir: &tempfile::TempDir) -> Self {
        let mut talk = Self(BufReader::new(UnixStream::connect(dir.path().join("data/engine.sock")).await.unwrap()));
        assert_eq!(talk.hear().await, serde_json::json!({}), "the engine greets before it reads");
        talk
    }

    async fn say(&mut self, line: &str) {
        self.0.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line; null at the end.
    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        match self.0.read_line(&mut line).await {
            Ok(n) if n > 0 => serde_json::from_str(&line).unwrap(),
            _ => Value::Null,
        }
    }
}

#[tokio::test]
async fn what_cannot_be_understood_is_said_to_be_so_and_ends_the_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let open = engine(&dir).await;
    for (line, id, code) in [
        ("hello", 0, "bad_request"),
        ("[1]", 0, "bad_request"),
        (r#"{"v":2,"id":4,"ask":"ping"}"#, 4, "other_version"),
        (r#"{"id":4,"ask":"ping"}"#, 4, "other_version"),
        (r#"{"v":1,"id":5,"ask":"dance"}"#, 5, "bad_request"),
        (r#"{"v":1,"id":6,"ask":{"wait":"x"}}"#, 6, "bad_request"),
        (r#"{"v":1,"id":7,"ask":"ping","more":1}"#, 7, "bad_request"),
        (r#"{"v":1,"id":8,"ask":{"start":{"plan":{},"input":{},"by":"ada"}}}"#, 8, "bad_request"),
        ("\u{0}\u{1}\"", 0, "bad_request"),
    ] {
        let mut talk = Talk::with(&dir).await;
        talk.say(line).await;
        let heard = talk.hear().await;
        assert_eq!((&heard["id"], &heard["error"]["code"]), (&id.into(), &code.into()), "{line}");
        assert_eq!(talk.hear().await, Value::Null, "{line}");
    }
    let mut talk = Talk::with(&dir).await;
    talk.say(r#"{"v":1,"id":1,"ask":"ping"}"#).await;
    assert_eq!(talk.hear().await["ok"]["pong"]["background"], false, "others are not disturbed");
    open.close().await.unwrap();
}

#[tokio::test]
async fn a_wait_holds_up_nothing_else_and_a_leaving_engine_says_how_far_it_read() {
    let dir = tempfile::tempdir().unwrap();
    let open = engine(&dir).await;
    let (run, _) = open.engine.start_run(start(ASK, None)).await.unwrap();
    let mut talk = Talk::with(&dir).await;
    talk.say(&format!(r#"{{"v":1,"id":1,"ask":{{"wait":"{run}"}}}}"#)).await;
    talk.say(r#"{"v":1,"id":2,"ask":"ping"}"#).await;
    assert_eq!(talk.hear().await["id"], 2);
    open.close().await.unwrap();
    assert_eq!(talk.hear().await, serde_json::json!({ "bye": 2 }));
    assert_eq!(talk.hear().await, Value::Null);
}

#[tokio::test]
async fn there_are_only_so_many_connections() {
    let dir = tempfile::tempdir().unwrap();
    let open = engine(&dir).await;
    let mut talks = Vec::new();
    for n in 0..64 {
        let mut talk = Talk::with(&dir).await;
        talk.say(&format!(r#"{{"v":1,"id":{n},"ask":"ping"}}"#)).await;
        assert_eq!(talk.hear().await["id"], n);
        talks.push(talk);
    }
    assert_eq!(Talk::with(&dir).await.hear().await["error"]["code"], "too_many_connections");
    let mut client = folder(&dir).connect().await.unwrap().unwrap();
    let error = client.ask(&Ask::Ping).await.unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Unavailable, "too_many_connections"));
    open.close().await.unwrap();
}

#[tokio::test]
async fn a_question_whose_answer_was_not_waited_for_confuses_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let open = engine(&dir).await;
    let (run, _) = open.engine.start_run(start(ASK, None)).await.unwrap();
    let mut client = folder(&dir).connect().await.unwrap().unwrap();
    let wait = Ask::Wait(run);
    tokio::select! {
        biased;
        _ = client.ask(&wait) => panic!("it cannot have ended"),
        () = std::future::ready(()) => {}
    }
    assert_eq!(client.ask(&approve(run)).await.unwrap(), Said::Done);
    assert_eq!(client.ask(&Ask::Ping).await.unwrap(), Said::Pong { background: false, run: None });
    assert_eq!(client.ask(&Ask::Wait(run)).await.unwrap(), Said::Ended(RunState::Complete));
    open.close().await.unwrap();
}
