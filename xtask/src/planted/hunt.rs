//! The hunt: the simulator, built once with all bugs in it, plays seeds with one of them turned on.

use super::bug::Tier;
use super::copy::VARIABLE;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A hunt that takes longer is in a loop without an end.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a hunt came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The seed that failed, and what must hold and did not.
    Seed(u64, String),
    Nothing,
    /// It did not end.
    Stuck,
}

impl Found {
    /// How many seeds it took.
    pub fn seeds(&self) -> u64 {
        match self {
            Self::Seed(seed, _) => *seed,
            Self::Nothing | Self::Stuck => super::SEEDS,
        }
    }
}

/// Builds the copy beside the sources, so that dependencies are built once for both.
pub fn build(folder: &Path, target: &Path) -> Result<PathBuf, String> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--locked", "--profile", "sim", "--package", "edgewise-sim"]);
    // A few seeds are enough for most bugs: what is quick to build is done sooner.
    for package in ["core", "store", "engine", "sim"] {
        command.arg("--config").arg(format!("profile.sim.package.edgewise-{package}.opt-level=1"));
    }
    match command.current_dir(folder).env("CARGO_TARGET_DIR", target).status() {
        Ok(status) if status.success() => keep(target),
        Ok(status) => Err(format!("the copy in {} cannot be built: {status}", folder.display())),
        Err(error) => Err(format!("cargo could not be started: {error}")),
    }
}

/// The simulator without bugs has the same name: this one is kept under another.
fn keep(target: &Path) -> Result<PathBuf, String> {
    let (built, kept) = (target.join("sim/edgewise-sim"), target.join("planted/edgewise-sim"));
    std::fs::copy(&built, &kept).map_err(|e| format!("{}: {e}", built.display()))?;
    Ok(kept)
}

/// Plays seeds with one bug turned on, or none, on every core, until one fails.
pub fn hunt(binary: &Path, bug: &str, tier: Tier, seeds: u64) -> Result<Found, String> {
    let mut command = Command::new(binary);
    command.args(["--no-shrink", "--seed", "1", "--seeds", &seeds.to_string()]);
    command.args(tier.option()).env(VARIABLE, bug);
    let child = command.stdout(Stdio::piped()).spawn().map_err(|e| format!("{}: {e}", binary.display()))?;
    Ok(outcome(child))
}

fn outcome(mut child: Child) -> Found {
    let (send, said) = mpsc::channel();
    let out = child.stdout.take();
    std::thread::spawn(move || send.send(out.map(std::io::read_to_string)));
    let said = said.recv_timeout(PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    match said {
        Ok(Some(Ok(text))) => told(&text),
        _ => Found::Stuck,
    }
}

/// The first line that names a seed, as the simulator tells it: `seed 7 fails: done_is_final: ...`.
fn told(text: &str) -> Found {
    let fails = |line: &str| {
        let (seed, rest) = line.strip_prefix("seed ")?.split_once(" fails: ")?;
        Some(Found::Seed(seed.parse().ok()?, rest.split(": ").next()?.to_owned()))
    };
    let played = text.contains("no violation");
    text.lines().find_map(fails).unwrap_or(if played { Found::Nothing } else { Found::Stuck })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_simulator_says_is_understood() {
        let failed = "seed 12 fails: done_is_final: a task moved: twice\nrepeat with: x\n";
        assert_eq!(told(failed), Found::Seed(12, "done_is_final".into()));
        assert_eq!(told("1000 seeds, 9 steps, no violation; 1 seeds/s, 2 steps/s\n"), Found::Nothing);
        assert_eq!(told(""), Found::Stuck);
    }
}
