//! A folder, and the binary in it.

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How a command ended, and what it said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with items of these ids, each called like its id without the prefix.
    pub fn with(ids: &[&str]) -> Self {
        let place = Self::new();
        let lines: Vec<String> =
            ids.iter().map(|id| format!("{{\"op\":\"add\",\"id\":{id:?},\"title\":{:?}}}", &id[3..])).collect();
        place.fed(&["batch"], &lines.join("\n")).good();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env("HOME", self.0.path()).env("USER", "ada").stdin(Stdio::null());
        command.env_remove("XDG_CONFIG_HOME").env_remove("LC_ALL").env("LANG", "C").env("TZ", "UTC");
        for (key, _) in std::env::vars().filter(|(key, _)| key.starts_with("EDGEWISE_")) {
            command.env_remove(key);
        }
        command
    }

    pub fn binary(&self, words: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_edgewise"));
        command.args(words);
        command
    }

    /// Runs a command line; its words are parted by spaces, and `'…'` holds some together.
    pub fn run(&self, line: &str) -> Said {
        let words: Vec<String> = parted(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        said(self.binary(&words).output().unwrap())
    }

    /// The same with something on stdin.
    pub fn fed(&self, words: &[&str], text: &str) -> Said {
        let mut command = self.binary(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        said(child.wait_with_output().unwrap())
    }

    pub fn good(&self, line: &str) -> String {
        let said = self.run(line);
        assert_eq!(said.code, 0, "{line}: {said:?}");
        said.out.trim_end().to_owned()
    }

    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.good(&format!("{line} --json"))).unwrap()
    }

    /// Runs a command line and looks at what it printed.
    pub fn check(&self, line: &str, printed: &str) {
        assert_eq!(self.good(line), printed, "{line}");
    }

    /// Runs a command line that is refused.
    pub fn refused(&self, line: &str, exit: i32, code: &str) -> Value {
        let said = self.run(&format!("{line} --json"));
        let error: Value = serde_json::from_str(&said.err).unwrap_or_else(|_| panic!("{line}: {said:?}"));
        assert_eq!((said.code, error["error"]["code"].as_str()), (exit, Some(code)), "{line}: {said:?}");
        error["error"].clone()
    }

    /// The ids that a command prints.
    pub fn ids(&self, line: &str) -> Vec<String> {
        self.good(&format!("{line} -q")).lines().map(str::to_owned).collect()
    }
}

impl Said {
    pub fn good(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }
}

fn said(output: std::process::Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn parted(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (n, piece) in line.split('\'').enumerate() {
        match n % 2 {
            0 => words.extend(piece.split_whitespace().map(str::to_owned)),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}
