//! The real binary, killed with -9 again and again while 10,000 tasks run.
//!
//! Every attempt says through a pipe that it has started; the harness kills the engine after a random number
//! of such lines and starts it anew. Nothing sleeps and no clock decides: the pipe is the clock.

use edgewise_core::event::TaskIx;
use edgewise_core::invariant::check_state;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_engine::Home;
use edgewise_engine::reader::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const ITEMS: u32 = 9_000;
const LAYERS: u32 = 50;
const WIDTH: u32 = 20;
const MAX_ATTEMPTS: u16 = 20;
const KILLS: u32 = 100;
/// Longer than anything takes: only a hang reaches it.
const HANG: Duration = Duration::from_secs(120);

/// 9,000 items of a spread beside 1,000 tasks in layers, three upstreams each, and one task after all.
fn flow() -> String {
    let script = r#"'echo "$EDGEWISE_TASK $EDGEWISE_ATTEMPT" > "$STARTS"'"#;
    let mut text = format!(
        "flow: chaos\ninputs: {{ items: {{ type: list }} }}\ndefaults: {{ retry: {{ max_attempts: {MAX_ATTEMPTS}, \
         backoff: {{ kind: fixed, base: 1ms }} }} }}\ntasks:\n  wide: {{ each: inputs.items, run: {script} }}\n"
    );
    for layer in 0..LAYERS {
        for place in 0..WIDTH {
            let ups: Vec<String> = (0..3)
                .filter(|_| layer > 0)
                .map(|step| format!("t{}-{}", layer.wrapping_sub(1), (place + step) % WIDTH))
                .collect();
            text += &format!("  t{layer}-{place}: {{ after: [{}], run: {script} }}\n", ups.join(", "));
        }
    }
    let last: Vec<String> = (0..WIDTH).map(|place| format!("t{}-{place}", LAYERS - 1)).collect();
    text + &format!("  last: {{ after: [wide, {}], run: {script} }}\n", last.join(", "))
}

struct Place {
    dir: tempfile::TempDir,
    pipe: File,
    lines: Receiver<String>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("starts");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        // Open at both ends, so that neither side ever waits for the other to come.
        let pipe = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let reader = BufReader::new(pipe.try_clone().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || reader.lines().map_while(Result::ok).all(|line| tell.send(line).is_ok()));
        Self { dir, pipe, lines }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn data(&self) -> PathBuf {
        self.path().join(".edgewise")
    }

    fn edgewise(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("STARTS", self.path().join("starts")).env("EDGEWISE_WORKERS", "8").env("EDGEWISE_DIR", self.data());
        command
    }

    /// Kills whoever is the engine, the child or one that went to the background; false if nobody is.
    fn kill_engine(&self, child: &mut Child) -> bool {
        let lock = std::fs::read_to_string(self.data().join("engine.lock")).unwrap();
        let Ok(pid) = lock.trim().parse::<i32>() else { return false };
        let program = std::fs::read_link(format!("/proc/{pid}/exe"));
        if program.is_ok_and(|path| path != Path::new(env!("CARGO_BIN_EXE_edgewise"))) {
            return false;
        }
        let killed = rustix::process::Pid::from_raw(pid)
            .is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok());
        if pid.unsigned_abs() == child.id() {
            child.wait().unwrap();
        }
        killed
    }

    fn said(&self, args: &[&str]) -> (String, i32) {
        let output = self.edgewise(args).output().unwrap();
        (String::from_utf8(output.stdout).unwrap().trim().to_owned(), output.status.code().unwrap_or(-1))
    }

    fn run(&self, id: &str) -> Run {
        let home = Home { tenant: Name::parse("local").unwrap(), workspace: Name::parse("default").unwrap() };
        let mut reader = Reader::open(&self.data(), home).unwrap();
        let id = reader.find(id).unwrap();
        reader.run(id).unwrap()
    }
}

/// The same numbers in every run of this test.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What was seen over all lives of the engine.
#[derive(Default)]
struct Seen {
    /// How often each attempt of each task said that it has started.
    starts: BTreeMap<(String, u16), u32>,
    done: BTreeSet<TaskIx>,
}

impl Seen {
    fn line(&mut self, line: &str) {
        let (task, attempt) = line.rsplit_once(' ').unwrap_or_else(|| panic!("a strange line: {line:?}"));
        *self.starts.entry((task.to_owned(), attempt.parse().unwrap())).or_default() += 1;
    }

    /// What was done stays done, and every invariant holds, whenever the engine dies.
    fn look(&mut self, run: &Run) {
        check_state(run).unwrap();
        let done: BTreeSet<TaskIx> = (0..run.total())
            .map(TaskIx)
            .filter(|t| run.task(*t).is_some_and(|t| t.state == TaskState::Complete))
            .collect();
        assert!(done.is_superset(&self.done), "something done is not done any more");
        self.done = done;
    }
}

/// Waits for so many starts; false if the last task was among them.
fn lines(place: &Place, starts: u64, seen: &mut Seen) -> bool {
    (0..starts).all(|_| {
        let line = place.lines.recv_timeout(HANG).expect("the engine hangs");
        seen.line(&line);
        !line.starts_with("last ")
    })
}

#[test]
fn ten_thousand_tasks_survive_a_hundred_kills() {
    let place = Place::new();
    std::fs::write(place.path().join("chaos.yaml"), flow()).unwrap();
    std::fs::write(
        place.path().join("small.yaml"),
        "flow: small\ntasks: { a: { run: 'true' }, b: { after: [a], run: 'true' } }\n",
    )
    .unwrap();
    let items: Vec<String> = (0..ITEMS).map(|n| n.to_string()).collect();
    let items = format!("items:=[{}]", items.join(","));
    let (mut dice, mut seen, mut kills, mut accepted) = (Dice(7), Seen::default(), 0, Vec::new());
    let mut child = place.edgewise(&["run", "chaos.yaml", "--key", "chaos", "-i", &items, "--wait"]).spawn().unwrap();
    // The first line comes from a task, so by then the run was accepted.
    assert!(lines(&place, 1, &mut seen));
    let chaos = place.run("@").id.to_string();
    while lines(&place, 1 + dice.below(120), &mut seen) {
        if kills % 25 == 0 {
            // What another process was told to be accepted must be there in the end.
            let (id, code) = place.said(&["run", "small.yaml", "--detach", "-q"]);
            if code == 0 {
                accepted.push(id);
            }
        }
        kills += u32::from(place.kill_engine(&mut child));
        seen.look(&place.run(&chaos));
        if child.try_wait().unwrap().is_some() {
            child = place.edgewise(&["watch", &chaos]).spawn().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(kills >= KILLS, "only {kills} kills: let the engine live for less");
    finish(&place, &chaos, &accepted, seen);
}

fn finish(place: &Place, chaos: &str, accepted: &[String], mut seen: Seen) {
    for run in accepted.iter().map(String::as_str).chain([chaos]) {
        let (_, code) = place.said(&["watch", run]);
        assert_eq!(code, 0, "run {run} did not end well");
        assert_eq!(place.run(run).state, RunState::Complete);
    }
    (&place.pipe).write_all(b"end 0\n").unwrap();
    while let Ok(line) = place.lines.recv_timeout(HANG) {
        if line == "end 0" {
            break;
        }
        seen.line(&line);
    }
    seen.look(&place.run(chaos));
    assert_eq!(seen.done.len() as u32, ITEMS + LAYERS * WIDTH + 2, "every task and the spread itself");
    assert!(accepted.len() >= 3, "too few runs were accepted beside it");
    let tasks: BTreeSet<&str> = seen.starts.keys().map(|(task, _)| task.as_str()).collect();
    assert_eq!(tasks.len() as u32, ITEMS + LAYERS * WIDTH + 1, "every task has started");
    for ((task, attempt), times) in &seen.starts {
        assert_eq!(*times, 1, "attempt {attempt} of {task} has started twice");
        assert!(*attempt <= MAX_ATTEMPTS, "{task} has had {attempt} attempts");
    }
    let (report, code) = place.said(&["doctor", "--verify"]);
    assert_eq!(code, 0, "{report}");
}
