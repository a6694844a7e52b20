//! A folder with runs in it, made by a real engine with a clock that stands still; and the binary, asked about it.

use edgewise_core::event::Failure;
use edgewise_core::flow::compile_file;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::Home;
use edgewise_engine::command::{Command as Ask, GateAct, RunAct, Start};
use edgewise_engine::engine::{Engine, Parts};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::handler::Handlers;
use edgewise_engine::worker::{Commands, Worker};
use edgewise_store::sqlite;
use serde_json::json;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// When the first engine is started: 2099-01-31T12:00:00Z. It is always later than the tester's own clock, so that
/// what is not over has taken no time yet. Each further engine is started a minute later.
const NOW: Time = Time(4_073_544_000_000);

/// Builds, tests on three systems, waits for two people, publishes.
pub const RELEASE: &str = "
flow: release
inputs: { version: { type: string, default: 1.2.0 } }
tasks:
  build: { action: ci.build }
  test: { after: build, each: [unit, api, ui], as: suite, action: ci.test, with: { suite: '${{ suite }}' }, retry: 1 }
  approve: { after: build, gate: { approval: { from: [lead, quality, security], count: 2 }, deadline: 2d } }
  publish: { after: [test, approve], action: ci.publish }
  notify: { after: { publish: [ok, failed, skipped] }, action: ci.notify }
";

/// One task that fails and is tried again, and one behind it.
pub const FLAKY: &str = "
flow: flaky
tasks:
  fetch: { action: web.fetch, retry: { max_attempts: 3, backoff: { kind: fixed, base: 1h, cap: 1h }, jitter: 0 } }
  parse: { after: fetch, action: web.parse }
";

/// Commands with something to say.
pub const LOUD: &str = r#"
flow: loud
tasks:
  first: { run: 'echo one; printf "\033[31mred\033[0m\n"' }
  second: { after: first, each: [a, b], as: letter, run: 'echo "letter $L"', env: { L: '${{ letter }}' } }
  bad: { after: second, run: 'echo no >&2; exit 3', retry: 1 }
"#;

/// A program that goes three rounds, asks a function, handles a failure and goes one way of two.
pub const PROGRAM: &str = r#"
flow sums(version):
    total = 0
    for n in [1, 2, 3]:
        got = @run(script="echo $N", output="json", N=n)
        total = total + got
    if total > 100:
        @run(script="echo much")
    else:
        twice(total)
    try:
        @run(script="echo no >&2; exit 3") [retry: 1]
    except exit_3:
        @run(script="echo never mind")
    return {"total": total}

fn twice(x):
    y = @run(script="echo $((2 * X))", output="json", X=x)
    return y
"#;

/// A program that ends with a failure that none of its tasks had.
pub const RAISES: &str = r#"
flow raises(version):
    try:
        @run(script="exit 4") [retry: 1]
    except exit_4:
        raise Broken("nothing helped")
    @run(script="echo not reached")
"#;

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A project folder.
pub struct Ground {
    pub folder: tempfile::TempDir,
    pub runs: Vec<RunId>,
    engines: u8,
}

/// An engine at work in it.
pub struct AtWork<'a> {
    ground: &'a mut Ground,
    engine: Engine,
}

impl Ground {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("edgewise.toml"), "").unwrap();
        Self { folder, runs: Vec::new(), engines: 0 }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join(".edgewise")
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    pub fn engine(&mut self) -> AtWork<'_> {
        let dir = self.data();
        self.engines += 1;
        let now = NOW.plus(Millis(60_000 * u64::from(self.engines - 1)));
        let stores = sqlite::open(&dir).unwrap();
        let parts = Parts {
            ledger: Box::new(stores.ledger),
            reader: Box::new(sqlite::open_reader(&dir).unwrap().projections),
            writer: Box::new(stores.projections),
            home: Home { tenant: name("local"), workspace: name("default") },
            clock: Arc::new(move || now),
            entropy: Entropy::from_seed([self.engines; 32]),
            queues: Default::default(),
        };
        AtWork { engine: Engine::start(parts).unwrap(), ground: self }
    }

    /// Runs the binary: exit code, stdout, stderr, ids made the same every time.
    pub fn ask(&self, line: &str) -> (i32, String, String) {
        let output = self.command(line).output().unwrap();
        let text = |bytes: Vec<u8>| self.masked(&String::from_utf8(bytes).unwrap());
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
        command.current_dir(self.folder.path()).args(words(line, &self.runs));
        for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("EDGEWISE_")) {
            command.env_remove(key);
        }
        command.env("HOME", self.folder.path()).env_remove("XDG_CONFIG_HOME");
        command.env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        command
    }

    /// Ids are chance: runs become `run1`, `run2`, other ids and engines a filler, all of the same width.
    fn masked(&self, text: &str) -> String {
        let mut text = text.replace(&self.folder.path().display().to_string(), "<folder>");
        for (n, run) in self.runs.iter().enumerate() {
            let id = run.to_string();
            text = text.replace(&id, &format!("{:.<16}", format!("run{}", n + 1)));
            text = text.replace(&id[..8], &format!("{:.<8}", format!("run{}", n + 1)));
        }
        let is_id = |word: &str| {
            matches!(word.len(), 13 | 26)
                && word.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase())
                && word.contains(|c: char| c.is_ascii_digit())
        };
        let is_engine =
            |word: &str| word.len() == 7 && word.starts_with('e') && word.chars().all(|c| c.is_ascii_hexdigit());
        let mut out = String::new();
        for part in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
            let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let filled = match word {
                id if is_id(id) => "#".repeat(id.len()),
                engine if is_engine(engine) => "engine#".into(),
                word => word.to_owned(),
            };
            out += &filled;
            out += &part[word.len()..];
        }
        out
    }

    /// Compares what the binary says with what it said when somebody last looked at it.
    pub fn golden(&self, file: &str, lines: &[&str]) {
        let mut said = String::new();
        for line in lines {
            let (code, out, err) = self.ask(line);
            said += &format!("$ edgewise {line}\n{out}{err}[{code}]\n\n");
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/looks/golden").join(file);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &said).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(said == expected, "{file} differs; UPDATE_GOLDEN=1 accepts it:\n{said}");
    }
}

/// `$1` in a line is the first run.
fn words(line: &str, runs: &[RunId]) -> Vec<String> {
    let of = |word: &str| match word.strip_prefix('$').and_then(|n| n.parse::<usize>().ok()) {
        Some(n) => runs[n - 1].to_string(),
        None => word.to_owned(),
    };
    line.split_whitespace().map(of).collect()
}

impl AtWork<'_> {
    pub async fn start(&mut self, flow: &str) -> RunId {
        let flows = compile_file(flow, "flow").unwrap_or_else(|problems| panic!("{problems}"));
        let compiled = flows.into_iter().next().unwrap();
        let input = RawValue::from_string(r#"{"version":"1.2.0"}"#.into()).unwrap();
        let labels = [("env".to_owned(), "test".to_owned())].into();
        let start = Start {
            plan: Arc::new(compiled.plan),
            children: compiled.children,
            input,
            by: name("ada"),
            key: None,
            labels,
        };
        let (run, _) = self.engine.start_run(start).await.unwrap();
        self.ground.runs.push(run);
        run
    }

    /// Works until so many attempts have begun, and what they report is written. Ends the engine too: a claim that
    /// the worker left behind would take what becomes ready later.
    pub async fn work(self, attempts: usize) {
        let (begun, mut hear) = mpsc::unbounded_channel();
        // Only in the first run a test fails.
        let first = self.ground.runs.len() == 1;
        let mut handlers = Handlers::default();
        for action in ["ci.build", "ci.test", "ci.publish", "ci.notify", "web.fetch"] {
            let begun = begun.clone();
            handlers = handlers.on(name(action), move |task| {
                begun.send(()).unwrap();
                async move {
                    match (action, task.input["suite"].as_str()) {
                        ("ci.test", Some("ui")) if first => Err(Failure::new("flaky_browser", "the browser went away")),
                        ("web.fetch", _) => Err(Failure::new("http_503", "the server is busy")),
                        _ => Ok(json!({ "by": action, "path": task.path })),
                    }
                }
            });
        }
        let worker =
            Worker { handlers, commands: None, http: None, secrets: Default::default(), slots: 1 }.start(&self.engine);
        for _ in 0..attempts {
            hear.recv().await.unwrap();
        }
        worker.stop(Duration::from_secs(60)).await;
        self.stop();
    }

    /// Runs commands until a run is over.
    pub async fn run_commands(self, run: RunId) {
        let dir = self.ground.folder.path().to_owned();
        let logs = self.ground.file("logs");
        let worker = Worker {
            handlers: Handlers::default(),
            commands: Some(Commands { dir, logs }),
            http: None,
            secrets: Default::default(),
            slots: 1,
        };
        let worker = worker.start(&self.engine);
        self.engine.wait(run).await.unwrap();
        worker.stop(Duration::ZERO).await;
        self.stop();
    }

    pub async fn approve(&self, run: RunId, task: &str, by: &str) {
        let act = GateAct { run, task: task.into(), by: name(by), comment: Some("looks good".into()) };
        self.engine.ask(Ask::Approve(act)).await.unwrap();
    }

    pub async fn pause(&self, run: RunId) {
        self.engine.ask(Ask::Pause(RunAct { run, by: name("op"), why: None })).await.unwrap();
    }

    pub async fn cancel(&self, run: RunId) {
        self.engine.cancel(run, name("op"), Some("wrong version".into())).await.unwrap();
    }

    /// Ends the engine; all rows are written.
    pub fn stop(self) {
        self.engine.stop().unwrap();
    }
}

/// A folder with runs in many states: failed, waiting for people, waiting for a retry, paused, cancelled.
pub async fn story() -> Ground {
    let mut ground = Ground::new();
    let mut engine = ground.engine();
    let failed = engine.start(RELEASE).await;
    engine.work(5).await;
    let engine = ground.engine();
    for person in ["lead", "quality"] {
        engine.approve(failed, "approve", person).await;
    }
    engine.stop();
    let mut engine = ground.engine();
    let waits = engine.start(RELEASE).await;
    engine.work(4).await;
    let mut engine = ground.engine();
    engine.approve(waits, "approve", "lead").await;
    engine.start(FLAKY).await;
    engine.work(1).await;
    let mut engine = ground.engine();
    let paused = engine.start(FLAKY).await;
    engine.pause(paused).await;
    engine.stop();
    let mut engine = ground.engine();
    let cancelled = engine.start(RELEASE).await;
    engine.cancel(cancelled).await;
    engine.stop();
    let mut engine = ground.engine();
    engine.start(FLAKY).await;
    engine.stop();
    ground
}
