//! Processes of the binary, and pipes through which tasks tell that they are alive. Everything that blocks is bounded.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long anything may take before the test says what it has seen so far.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder to run in.
pub struct Project(tempfile::TempDir);

impl Project {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a flow of these tasks as `NAME.yaml`.
    pub fn flow(&self, name: &str, tasks: &str) {
        std::fs::write(self.path().join(format!("{name}.yaml")), format!("flow: {name}\ntasks:\n{tasks}")).unwrap();
    }

    /// A pipe with a name, for a task to write to.
    pub fn pipe(&self, name: &str) -> Alive {
        Alive::listen(self.fifo(name))
    }

    /// A pipe with a name: who reads from it waits for who writes.
    pub fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    pub fn has(&self, file: &str) -> bool {
        self.path().join(file).exists()
    }

    /// A command line of the binary, its words separated by spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgewise"));
        command.current_dir(self.path()).args(line.split_whitespace()).stdin(Stdio::null());
        for name in [
            "EDGEWISE_ADDR",
            "EDGEWISE_TOKEN",
            "EDGEWISE_DIR",
            "EDGEWISE_AS",
            "EDGEWISE_FORMAT",
            "EDGEWISE_COLOR",
            "EDGEWISE_WORKERS",
        ] {
            command.env_remove(name);
        }
        command.env("HOME", self.path()).env_remove("XDG_CONFIG_HOME").env("USER", "ada");
        command
    }

    pub fn spawn(&self, line: &str) -> Process {
        Process::spawn(self.command(line))
    }

    /// Runs a command line to its end.
    pub fn run(&self, line: &str) -> Ended {
        self.spawn(line).end()
    }

    /// Returns once a command that runs is written down, so that it is found after a crash.
    pub fn until_written_down(&self) {
        let logs = self.path().join(".edgewise/logs");
        let is_written = move || {
            let runs = std::fs::read_dir(&logs).into_iter().flatten().flatten();
            let mut files = runs.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten().flatten());
            files.any(|f| f.path().extension().is_some_and(|e| e == "pid") && f.metadata().is_ok_and(|m| m.len() > 0))
        };
        let until = move || {
            while !is_written() {
                std::thread::yield_now();
            }
        };
        bounded(until, || "no command is written down".to_owned());
    }

    /// Waits until there is no engine, in the background or elsewhere.
    pub fn until_nobody_works(&self) {
        self.until_unlocked("background.lock");
        self.until_unlocked("engine.lock");
    }

    /// Returns once nobody holds a lock of the data folder.
    pub fn until_unlocked(&self, lock: &str) {
        let file =
            File::options().write(true).create(true).truncate(false).open(self.path().join(".edgewise").join(lock));
        let file = file.unwrap();
        bounded(move || file.lock().unwrap(), || format!("{lock} is still held"));
    }
}

/// Does something that may block, within bounds.
pub fn bounded<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static, seen: impl Fn() -> String) -> T {
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(act()));
    told.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("it took too long: {}", seen()))
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// What a process that only does something says about it.
    pub fn says(&self, code: i32, out: &str) {
        assert_eq!((self.code, self.out.trim()), (code, out), "{self:?}");
    }
}

/// A process of the binary.
pub struct Process {
    child: Option<Child>,
    out: Receiver<String>,
    err: Receiver<String>,
    told: String,
}

impl Process {
    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child: Some(child), out, err, told: String::new() }
    }

    /// Reads what it tells until there is a line with all of these words.
    pub fn until(&mut self, words: &[&str]) {
        loop {
            let line = self.err.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("{words:?} was not told:\n{}", self.told));
            self.told += &line;
            if words.iter().all(|word| line.contains(word)) {
                return;
            }
        }
    }

    /// The next line that it prints.
    pub fn line(&mut self) -> String {
        self.out.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("nothing was printed: {:?}", self.err.try_recv()))
    }

    /// The next line that it prints, which must have these words in it.
    pub fn prints(&mut self, words: &str) {
        let line = self.line();
        assert!(line.contains(words), "expected {words:?}, found {line:?}");
    }

    /// The word that was told behind these words.
    pub fn word_after(&self, words: &str) -> String {
        let (_, rest) = self.told.rsplit_once(words).unwrap_or_else(|| panic!("{words} was not told:\n{}", self.told));
        rest.split_whitespace().next().unwrap_or_default().to_owned()
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends a signal, by its name.
    pub fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    pub fn end(mut self) -> Ended {
        let mut err = std::mem::take(&mut self.told);
        let rest = |from: &Receiver<String>, so_far: &str| {
            let mut text = String::new();
            loop {
                match from.recv_timeout(PATIENCE) {
                    Ok(line) => text += &line,
                    Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return text,
                    Err(_) => panic!("it did not end:\n{so_far}{text}"),
                }
            }
        };
        err += &rest(&self.err, &err);
        let out = rest(&self.out, &err);
        let mut child = self.child.take().unwrap();
        let status = bounded(move || child.wait().unwrap(), || err.clone());
        Ended { code: status.code().unwrap_or(-1), out, err }
    }
}

/// A test that fails leaves no process behind.
impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill().and_then(|()| child.wait());
        }
    }
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = String::new();
        while from.read_line(&mut line).is_ok_and(|n| n > 0) {
            if tell.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    told
}

/// Tells when a task begins to live, and when nothing of it lives any more: its processes keep the pipe open.
pub struct Alive(Receiver<String>);

impl Alive {
    fn listen(path: PathBuf) -> Self {
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let Ok(file) = File::open(path) else { return };
            let mut from = BufReader::new(file);
            let mut line = String::new();
            while from.read_line(&mut line).is_ok_and(|n| n > 0) {
                let _ = tell.send(std::mem::take(&mut line));
            }
        });
        Self(told)
    }

    /// Returns once a task has written a line.
    pub fn begun(&self) {
        self.0.recv_timeout(PATIENCE).expect("no task has begun");
    }

    /// Returns once every process is gone that had the pipe open.
    pub fn gone(&self) {
        let end = self.0.recv_timeout(PATIENCE);
        assert_eq!(end, Err(std::sync::mpsc::RecvTimeoutError::Disconnected), "something lives on");
    }
}

/// A task that lives until it is ended in its first attempt, and is done at once in its second.
pub fn lives_once(name: &str, pipe: &str) -> String {
    format!(
        "  {name}:\n    run: |\n      if [ \"$EDGEWISE_ATTEMPT\" = 1 ]; then exec 3>{pipe}; echo alive >&3; sleep 600; fi\n      \
         echo done\n    retry: {{ max_attempts: 2, backoff: {{ kind: fixed, base: 1ms }}, jitter: 0 }}\n"
    )
}
