//! The folder of a demo, and the processes that are its engine, one after another.

use crate::config::{Config, FILE};
use crate::flow_file::FlowFile;
use crate::place::Place;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_engine::command::Start;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use serde_json::value::RawValue;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const FLOW: &str = include_str!("flow.yaml");
const FLOW_FILE: &str = "demo.yaml";
const STEP: &str = include_str!("step.sh");
/// Tasks at work at once.
pub(super) const SLOTS: u64 = 4;
/// Parts to build for each three seconds that the demo goes on: about what a small machine gets done.
const PARTS: u64 = 8;
/// Most parts, however long it goes on.
const MOST_PARTS: u64 = 1_000;

/// A folder with everything in it.
pub(super) struct Stage {
    /// The data folder, as commands use it.
    pub place: Place,
    folder: PathBuf,
    parts: u64,
    who: Name,
}

impl Stage {
    /// Makes the folder. Settings of other projects and of the user do not reach into it.
    pub(super) fn set(seconds: u64, config: &Config) -> Result<Self> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let folder = std::env::temp_dir().join(format!("edgewise-demo-{}-{}", std::process::id(), since.as_nanos()));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| Problem::file("made", &folder, &error))?;
        for (name, text) in [(FLOW_FILE, FLOW), ("step.sh", STEP), (FILE, "")] {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| Problem::file("written", &path, &error))?;
        }
        let mut own = config.clone();
        own.project.clone_from(&folder);
        own.dir.value = folder.join(crate::config::DIR);
        own.queues.value.clear();
        own.retention.value = None;
        let parts = (seconds * PARTS / 3).clamp(PARTS, MOST_PARTS);
        Ok(Self { place: Place::of(&own), folder, parts, who: config.who.value.clone() })
    }

    /// The folder itself.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The data folder in it.
    pub(super) fn data(&self) -> &Path {
        self.place.folder.dir()
    }

    /// Has the run recorded; nobody works on it yet.
    pub(super) async fn start(&self) -> Result<RunId> {
        let compiled = FlowFile::typed(Path::new(FLOW_FILE), &self.folder).one("cannot be run")?;
        let list = |n: u64| (1..=n).collect::<Vec<u64>>();
        let input = json!({ "parts": list(self.parts), "tests": list((self.parts / 2).max(1)) }).to_string();
        let input = RawValue::from_string(input).map_err(|error| {
            Problem::new(Kind::Bug, "unprintable", "the input has no JSON form").why(error.to_string())
        })?;
        let (plan, children) = (Arc::new(compiled.plan), compiled.children);
        let start = Start { plan, children, input, by: self.who.clone(), key: None, labels: Default::default() };
        let mut door = self.place.record().await?;
        let started = door.start(start).await;
        door.close().await?;
        Ok(started?.0)
    }

    /// A process that goes on with the run.
    pub(super) fn engine(&self) -> Result<Engine> {
        let path = self.folder.join("engine.log");
        let log = File::options().append(true).create(true).open(&path);
        let log = log.map_err(|error| Problem::file("opened", &path, &error))?;
        let mut command = self.edgewise(&["engine", "--until-idle"])?;
        Ok(Engine(command.stderr(log).spawn().map_err(|error| no_process(&error))?))
    }

    /// Whether `doctor --verify` finds nothing.
    pub(super) fn is_clean(&self) -> Result<bool> {
        let status = self.edgewise(&["doctor", "--verify"])?.status();
        Ok(status.map_err(|error| no_process(&error))?.success())
    }

    /// Takes the folder away.
    pub(super) fn strike(&self) {
        // What cannot be removed is in a folder for things that are not kept.
        let _ = fs::remove_dir_all(&self.folder);
    }

    fn edgewise(&self, words: &[&str]) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe().map_err(|error| no_process(&error))?);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("EDGEWISE_") {
                command.env_remove(name);
            }
        }
        command.env("EDGEWISE_WORKERS", SLOTS.to_string()).env("XDG_CONFIG_HOME", &self.folder);
        command.arg("--dir").arg(self.data()).args(words).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }
}

fn no_process(error: &std::io::Error) -> Problem {
    Problem::new(Kind::Unavailable, "no_process", "no engine could be started").why(error.to_string())
}

/// A process that is the engine. It does not outlive whoever holds it.
pub(super) struct Engine(Child);

impl Engine {
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Kills it without warning, as a power switch would; its pid.
    pub(super) fn kill(&mut self) -> u32 {
        // It fails if the process has ended by itself, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
        self.pid()
    }

    /// Whether it has ended by itself: there was nothing to do, or it could not go on.
    pub(super) fn is_gone(&mut self) -> Result<bool> {
        match self.0.try_wait().map_err(|error| no_process(&error))? {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => {
                let what = format!("an engine that nobody killed has ended with {status}");
                Err(Problem::new(Kind::Bug, "engine_ended", what).next("see engine.log beside its data folder"))
            }
        }
    }

    /// Asks it to stop, and waits until it has.
    pub(super) fn stop(mut self) {
        // Once waited for, its pid may be another's.
        if let Ok(None) = self.0.try_wait() {
            let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.kill();
    }
}
