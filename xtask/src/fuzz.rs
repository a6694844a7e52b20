//! `cargo xtask fuzz`: builds the hunter and passes its words on.

use std::path::Path;
use std::process::Command;

/// Hunts; false if something was found.
pub fn run(root: &Path, words: &[&str]) -> bool {
    let mut command = Command::new("cargo");
    // In debug: a number that overflows is then found, and not only what it leads to.
    command.args(["run", "--quiet", "--package", "edgewise-fuzz", "--"]).args(words).current_dir(root);
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("error: cargo could not be started: {error}");
            false
        }
    }
}
