//! `cargo xtask chaos`: what a bad day does to processes and files, done to the binary that is released.

use crate::built;
use std::path::Path;
use std::process::Command;

/// Runs the scenarios, or those with these words in their names.
pub fn run(root: &Path, words: &[&str]) -> bool {
    let done = built::released(root).and_then(|binary| {
        let mut command = Command::new("cargo");
        command.args(["test", "--workspace", "--test", "chaos", "--quiet", "--"]).args(words);
        command.current_dir(root).env("EDGEWISE_BIN", binary);
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
