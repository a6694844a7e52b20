//! A folder with flows, and the binary in it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// How a command ended, and what it said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null());
        for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("EDGEWISE_")) {
            command.env_remove(key);
        }
        command
    }

    pub fn run(&self, words: &[&str]) -> Said {
        let output = self.command(env!("CARGO_BIN_EXE_edgewise")).args(words).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub fn good(&self, words: &[&str]) -> Said {
        let said = self.run(words);
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        said
    }

    pub fn json(&self, words: &[&str]) -> Vec<Value> {
        serde_json::from_str(&self.good(words).out).unwrap()
    }

    pub fn spawn(&self, words: &[&str]) -> Child {
        let mut command = self.command(env!("CARGO_BIN_EXE_edgewise"));
        command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Waits for a file that somebody makes.
    pub fn until(&self, name: &str) {
        let began = Instant::now();
        while !self.path(name).exists() {
            assert!(began.elapsed() < HANG, "there is no {name}");
            std::thread::yield_now();
        }
    }
}
