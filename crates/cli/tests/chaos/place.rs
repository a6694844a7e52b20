//! A folder for processes of the binary, a pipe through which tasks say that they have started, and what was seen there.

use edgewise_core::event::TaskIx;
use edgewise_core::invariant::check_state;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::state::TaskState;
use edgewise_engine::Home;
use edgewise_engine::reader::Reader;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// The binary that all of it is done to: the one `EDGEWISE_BIN` names, or else the one that was built with these tests.
pub fn binary() -> &'static str {
    static BINARY: OnceLock<String> = OnceLock::new();
    BINARY.get_or_init(|| {
        let named = std::env::var("EDGEWISE_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_edgewise").into());
        let path = std::fs::canonicalize(&named).unwrap_or_else(|error| panic!("{named}: {error}"));
        path.into_os_string().into_string().unwrap()
    })
}

/// Longer than anything takes: only a hang reaches it.
pub const HANG: Duration = Duration::from_secs(120);
/// What a task runs to say that it has started.
pub const SAY: &str = r#"echo "$EDGEWISE_TASK $EDGEWISE_ATTEMPT" > "$STARTS""#;

/// How much more than the short form is to be done: `EDGEWISE_CHAOS=10` is ten times as much.
pub fn times() -> u64 {
    std::env::var("EDGEWISE_CHAOS").map_or(1, |n| n.parse().expect("EDGEWISE_CHAOS is a number"))
}

pub struct Place {
    dir: tempfile::TempDir,
    data: PathBuf,
    pipe: File,
    lines: Mutex<Receiver<String>>,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("starts");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        // Open at both ends, so that neither side ever waits for the other to come.
        let pipe = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let lines = Mutex::new(lines(pipe.try_clone().unwrap()));
        let data = dir.path().join(".edgewise");
        Self { dir, data, pipe, lines }
    }

    /// The same, with its data somewhere else.
    pub fn with_data(data: PathBuf) -> Self {
        Self { data, ..Self::new() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Writes a flow of these tasks as `NAME.yaml`.
    pub fn flow(&self, name: &str, tasks: &str) {
        std::fs::write(self.path().join(format!("{name}.yaml")), format!("flow: {name}\ntasks:\n{tasks}")).unwrap();
    }

    pub fn edgewise(&self, args: &[&str]) -> Command {
        self.command(binary(), args)
    }

    /// Any program, in the folder and with the variables that the binary is given.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("STARTS", self.path().join("starts")).env("EDGEWISE_WORKERS", "8").env("EDGEWISE_DIR", self.data());
        command.env("HOME", self.path()).env_remove("XDG_CONFIG_HOME").env("EDGEWISE_AS", "ada");
        command
    }

    /// The process that is the engine, as it wrote itself down, if it is one of ours.
    pub fn engine(&self) -> Option<Pid> {
        let lock = std::fs::read_to_string(self.data().join("engine.lock")).ok()?;
        let pid = lock.trim().parse::<i32>().ok()?;
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        (program == Path::new(binary())).then(|| Pid::from_raw(pid)).flatten()
    }

    /// Kills whoever is the engine, the child or one that went to the background; false if nobody is.
    pub fn kill_engine(&self, child: &mut Child) -> bool {
        let Some(pid) = self.engine() else { return false };
        let killed = kill_process(pid, Signal::KILL).is_ok();
        if pid == Pid::from_child(child) {
            child.wait().unwrap();
        }
        killed
    }

    /// What a command prints, and its exit code; -1 if it was killed.
    pub fn said(&self, args: &[&str]) -> (String, i32) {
        let (out, _, code) = output_of(self.edgewise(args).stdout(Stdio::piped()));
        (out.trim().to_owned(), code)
    }

    pub fn run(&self, id: &str) -> Run {
        let home = Home { tenant: Name::parse("local").unwrap(), workspace: Name::parse("default").unwrap() };
        let mut reader = Reader::open(self.data(), home).unwrap();
        let id = reader.find(id).unwrap();
        reader.run(id).unwrap()
    }

    /// The next start of a task.
    pub fn line(&self) -> String {
        self.line_within(HANG).expect("the engine hangs")
    }

    /// The next start of a task; `None` if none comes for so long.
    pub fn line_within(&self, patience: Duration) -> Option<String> {
        self.lines.lock().unwrap().recv_timeout(patience).ok()
    }

    /// Takes the starts up to the last one that was said so far.
    pub fn rest(&self, seen: &mut Seen) {
        (&self.pipe).write_all(b"end 0\n").unwrap();
        loop {
            match self.line() {
                end if end == "end 0" => return,
                line => seen.line(&line),
            }
        }
    }

    /// The ledger is refolded, the rows are compared, every invariant holds.
    pub fn is_sound(&self) {
        let (report, code) = self.said(&["doctor", "--verify"]);
        assert_eq!(code, 0, "{report}");
    }
}

/// Lines as they come; the channel closes at the end.
pub fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    let reader = BufReader::new(from);
    std::thread::spawn(move || reader.lines().map_while(Result::ok).all(|line| tell.send(line).is_ok()));
    told
}

/// Waits for a line with these words; everything before it comes back with it.
pub fn until(told: &Receiver<String>, words: &str) -> String {
    let mut all = String::new();
    loop {
        let line = told.recv_timeout(HANG).unwrap_or_else(|_| panic!("{words:?} was not told:\n{all}"));
        all = all + &line + "\n";
        if line.contains(words) {
            return all;
        }
    }
}

/// The exit code of a process that must end by itself; -1 if it was killed.
pub fn code_of(child: Child) -> i32 {
    code_while(child, || false)
}

/// The same of one that may take long: it hangs if it does not get on for as long as anything may take.
pub fn code_while(mut child: Child, mut gets_on: impl FnMut() -> bool) -> i32 {
    let (tell, told) = channel();
    let pid = Pid::from_child(&child);
    std::thread::spawn(move || tell.send(child.wait().unwrap()));
    loop {
        match told.recv_timeout(HANG) {
            Ok(status) => return status.code().unwrap_or(-1),
            Err(_) if gets_on() => {}
            Err(_) => {
                let _ = kill_process(pid, Signal::KILL);
                panic!("process {pid:?} does not end");
            }
        }
    }
}

/// What a command that must end by itself prints and what it says beside that, as far as there are pipes for them, and its
/// exit code; -1 if it was killed.
pub fn output_of(command: &mut Command) -> (String, String, i32) {
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    // Read while it lives, so that it never waits for a reader.
    let (out, beside) = (child.stdout.take().map(all_of), child.stderr.take().map(all_of));
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(child.wait().unwrap()));
    let ended = told.recv_timeout(HANG);
    if ended.is_err() {
        let _ = kill_process(pid, Signal::KILL);
    }
    let taken = |pipe: Option<Receiver<String>>| match pipe {
        Some(pipe) => pipe.recv_timeout(HANG).unwrap_or_else(|_| "(somebody else still has it open)".into()),
        None => String::new(),
    };
    let (out, beside) = (taken(out), taken(beside));
    let Ok(status) = ended else { panic!("{command:?} does not end; it said\n{out}\nand beside that\n{beside}") };
    (out, beside, status.code().unwrap_or(-1))
}

/// All that comes through a pipe, told at its end.
fn all_of(mut from: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let _ = from.read_to_end(&mut all);
        tell.send(String::from_utf8_lossy(&all).into_owned())
    });
    told
}

/// What was seen over all lives of the engine.
#[derive(Default)]
pub struct Seen {
    /// How often each attempt of each task said that it has started.
    pub starts: BTreeMap<(String, u16), u32>,
    pub done: BTreeSet<TaskIx>,
}

impl Seen {
    pub fn line(&mut self, line: &str) {
        let (task, attempt) = line.rsplit_once(' ').unwrap_or_else(|| panic!("a strange line: {line:?}"));
        *self.starts.entry((task.to_owned(), attempt.parse().unwrap())).or_default() += 1;
    }

    /// What was done stays done, and every invariant holds, whenever the engine dies.
    pub fn look(&mut self, run: &Run) {
        check_state(run).unwrap();
        let done: BTreeSet<TaskIx> = (0..run.total())
            .map(TaskIx)
            .filter(|t| run.task(*t).is_some_and(|t| t.state == TaskState::Complete))
            .collect();
        assert!(done.is_superset(&self.done), "something done is not done any more");
        self.done = done;
    }

    /// So many tasks have started, no attempt twice, and none has had more attempts than it may have.
    pub fn each_once(&self, tasks: usize, max_attempts: u16) {
        let names: BTreeSet<&str> = self.starts.keys().map(|(task, _)| task.as_str()).collect();
        assert_eq!(names.len(), tasks, "every task has started");
        for ((task, attempt), times) in &self.starts {
            assert_eq!(*times, 1, "attempt {attempt} of {task} has started twice");
            assert!(*attempt <= max_attempts, "{task} has had {attempt} attempts");
        }
    }
}
