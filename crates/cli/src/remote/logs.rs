//! The logs of a run at a server, brought here: what is new each time, into a folder that goes with this value.

use super::{Line, Remote};
use crate::problem::{Problem, Result};
use edgewise_core::id::RunId;
use edgewise_core::{Error, Kind};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::{Peek, SentLogs};
use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Logs that were brought here.
pub struct Logs {
    line: Line,
    dir: PathBuf,
    /// Whether the folder was made: most who look never ask for logs.
    made: Cell<bool>,
}

impl Logs {
    pub(super) fn of(remote: Remote) -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("edgewise-logs-{:016x}", Entropy::from_system()?.bits() as u64));
        Ok(Self { line: Line::open(remote), dir, made: Cell::new(false) })
    }

    /// Brings what is new of a run's logs; gives the folder that they are in, as an engine's own.
    pub fn fetch(&self, run: RunId) -> Result<PathBuf> {
        if !self.made.replace(true) {
            // New, and for its owner only: logs say what they say.
            let made = DirBuilder::new().mode(0o700).create(&self.dir);
            made.map_err(|error| Problem::file("made", &self.dir, &error))?;
        }
        let folder = self.dir.join(run.to_string());
        for (name, length) in self.see::<SentLogs>(&Peek::Logs(run))? {
            self.bring(&folder, (run, &name), length)?;
        }
        Ok(self.dir.clone())
    }

    fn bring(&self, folder: &Path, (run, name): (RunId, &str), length: u64) -> Result<()> {
        // A server that is not what it says must not write elsewhere.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(|error| Problem::file("made", folder, &error))?;
        let path = folder.join(name);
        let failed = |error| Problem::file("written", &path, &error);
        let mut file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        let mut from = file.metadata().map_err(failed)?.len();
        while from < length {
            let page: String = self.see(&Peek::Log { run, name: name.to_owned(), from })?;
            let bytes = bytes_of(&page)?;
            if bytes.is_empty() {
                break;
            }
            file.write_all(&bytes).map_err(failed)?;
            from += bytes.len() as u64;
        }
        Ok(())
    }

    fn see<T: DeserializeOwned>(&self, peek: &Peek) -> Result<T> {
        serde_json::from_str(&self.line.ask(peek)?).map_err(|error| {
            Problem::new(Kind::Unavailable, "other_version", "the server sent logs in a form that is not known here")
                .why(error.to_string())
        })
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        if self.made.get() {
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

fn bytes_of(page: &str) -> Result<Vec<u8>> {
    let bad = || Error::unavailable("other_version", "the server sent a log in a form that is not known here");
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
    let bytes: Option<Vec<u8>> = page.as_bytes().chunks(2).map(pair).collect();
    Ok(bytes.ok_or_else(bad)?)
}

#[cfg(test)]
mod tests {
    use super::bytes_of;

    #[test]
    fn bytes_come_back_from_their_digits_and_from_nothing_else() {
        assert_eq!(bytes_of("00ff0a").unwrap(), [0, 255, 10]);
        assert!(bytes_of("").unwrap().is_empty());
        for bad in ["0", "zz", "0g"] {
            assert!(bytes_of(bad).is_err(), "{bad}");
        }
    }
}
