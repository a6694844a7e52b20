//! What the tasks said themselves: a line when an attempt begins, and one when it ends. No engine has a hand in it,
//! so it can bear witness against one.

use crate::problem::{Problem, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The file that tasks write to.
const FILE: &str = "tale";

/// How often each attempt began and ended.
#[derive(Debug, Default)]
pub(super) struct Tale {
    read: u64,
    attempts: BTreeMap<(String, u16), Attempt>,
}

/// One attempt, as its process told it.
#[derive(Debug, Default)]
struct Attempt {
    begun: u64,
    ended: u64,
}

impl Tale {
    /// Reads what is new.
    pub(super) fn read_on(&mut self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE);
        let mut new = String::new();
        let read = File::open(&path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_string(&mut new)
        });
        match read {
            Ok(_) => {
                // A line that is being written is read when it is whole.
                let whole = new.rfind('\n').map_or(0, |at| at + 1);
                self.read += whole as u64;
                new[..whole].lines().for_each(|line| self.line(line));
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Problem::file("read", &path, &error)),
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        let mut words = line.split(' ');
        let (Some(what), Some(task), Some(attempt)) = (words.next(), words.next(), words.next()) else { return };
        let Ok(attempt) = attempt.parse() else { return };
        let entry = self.attempts.entry((task.to_owned(), attempt)).or_default();
        match what {
            "begins" => entry.begun += 1,
            "ends" => entry.ended += 1,
            _ => {}
        }
    }

    /// How often something began, whatever it was.
    pub(super) fn begun(&self) -> u64 {
        self.attempts.values().map(|attempt| attempt.begun).sum()
    }

    /// Whether any attempt of a task came to its end.
    pub(super) fn has_ended(&self, task: &str) -> bool {
        self.attempts.iter().any(|((name, _), attempt)| name == task && attempt.ended > 0)
    }

    /// Attempts that were made more than once.
    pub(super) fn twice(&self) -> Vec<String> {
        let more = self.attempts.iter().filter(|(_, attempt)| attempt.begun > 1 || attempt.ended > 1);
        more.map(|((task, number), _)| format!("attempt {number} of {task}")).collect()
    }
}
