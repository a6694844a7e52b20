//! `cargo xtask chaos`: what a bad day does to processes and files, done to the binary that is released.

use crate::built;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// How much more than the short form is to be done.
const TIMES: &str = "EDGEWISE_CHAOS";
/// Set where whoever runs the scenarios is able to mount a disk: then one that cannot be mounted is a failure, and not
/// something that is left out.
const MOUNTS: &str = "EDGEWISE_CHAOS_MOUNTS";

/// Runs the scenarios, or those with these words in their names; `--times N` does so many times as much.
pub fn run(root: &Path, words: &[&str]) -> bool {
    let done = parse(words).and_then(|(times, words)| {
        let binary = built::released(root)?;
        let mut command = Command::new("cargo");
        command.args(["test", "--workspace", "--test", "chaos", "--quiet", "--"]).args(words);
        command.current_dir(root).env("EDGEWISE_BIN", binary);
        command.envs(times.map(|times| (TIMES, times.to_string())));
        command.envs(is_root().then_some((MOUNTS, "1")));
        command.status().map_err(|error| format!("cargo could not be started: {error}"))
    });
    match done {
        Ok(status) => status.success(),
        Err(why) => {
            eprintln!("error: {why}");
            false
        }
    }
}

/// How much is to be done, if that was said, and the other words.
fn parse<'a>(words: &[&'a str]) -> Result<(Option<u64>, Vec<&'a str>), String> {
    let Some(at) = words.iter().position(|word| *word == "--times") else { return Ok((None, words.to_vec())) };
    let value = words.get(at + 1).copied().unwrap_or("nothing");
    let times = value.parse::<u64>().ok().filter(|times| *times > 0);
    let times = times.ok_or_else(|| format!("--times needs a number from 1 on, found {value:?}"))?;
    Ok((Some(times), [&words[..at], &words[at + 2..]].concat()))
}

/// Whether this process may do what only root may.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: Result<(Option<u64>, &[&str]), &str>) {
        match (parse(words), expected) {
            (Ok((times, rest)), Ok((wanted, words))) => assert_eq!((times, &rest[..]), (wanted, words)),
            (Err(said), Err(wanted)) => assert!(said.contains(wanted), "{said}"),
            (is, wanted) => panic!("expected {wanted:?}, found {is:?}"),
        }
    }

    #[test]
    fn how_much_is_to_be_done_is_said_once_and_anywhere() {
        check(&[], Ok((None, &[])));
        check(&["stop::", "--nocapture"], Ok((None, &["stop::", "--nocapture"])));
        check(&["--times", "10"], Ok((Some(10), &[])));
        check(&["stop::", "--times", "3", "--nocapture"], Ok((Some(3), &["stop::", "--nocapture"])));
        check(&["--times"], Err("found \"nothing\""));
        check(&["--times", "0"], Err("from 1 on, found \"0\""));
        check(&["--times", "many"], Err("found \"many\""));
    }
}
