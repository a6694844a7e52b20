//! `cargo xtask test`: everything a change must pass, in order, each step named with its time.
//!
//! The table is the definition. A further check is one more line in it.

use crate::debian::{self, Tool};
use crate::sdk;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// One step: what is run, when, and what it needs.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    /// Part of the developer's loop (`--quick`).
    quick: bool,
    /// Passed over unless this holds.
    when: fn() -> bool,
    /// Installed first if it is missing.
    needs: &'static [Tool],
    /// Program and arguments, separated by spaces.
    command: &'static str,
}

const fn step(name: &'static str, command: &'static str) -> Step {
    Step { name, quick: false, when: always, needs: &[], command }
}

const fn quick(step: Step) -> Step {
    Step { quick: true, ..step }
}

const fn when(when: fn() -> bool, step: Step) -> Step {
    Step { when, ..step }
}

/// For steps that use tools beside cargo.
const fn needs(needs: &'static [Tool], step: Step) -> Step {
    Step { needs, ..step }
}

const STRACE: Tool = Tool { program: "strace", package: "strace" };
const VALGRIND: Tool = Tool { program: "valgrind", package: "valgrind" };

/// What the shell of the guide to the server uses.
const SHELL: &[Tool] = &[Tool { program: "curl", package: "curl" }, Tool { program: "jq", package: "jq" }];

/// What makes a virtual environment.
const PYTHON: &[Tool] = &[Tool { program: "python3", package: "python3-venv" }];

const STEPS: &[Step] = &[
    quick(step("format", "cargo fmt --all --check")),
    step("lint", "cargo clippy --workspace --all-targets --quiet -- -D warnings"),
    quick(step("tidy", "cargo xtask tidy")),
    quick(when(
        nextest,
        needs(
            SHELL,
            step(
                "tests",
                "cargo nextest run --workspace --all-targets --cargo-quiet --status-level slow -E not(binary(chaos))",
            ),
        ),
    )),
    quick(when(no_nextest, needs(SHELL, step("tests", "cargo test --workspace --all-targets --quiet")))),
    quick(step("a few storms", "cargo xtask sim --seeds 300")),
    step("storms", "cargo xtask sim --kept --seeds 10000"),
    step("storms over SQLite", "cargo xtask sim --seeds 200 --sqlite"),
    needs(PYTHON, step("schemathesis", "cargo xtask schemathesis")),
    step("doc tests", "cargo test --workspace --doc --quiet"),
    needs(sdk::TOOLS, step("SDKs", "cargo xtask sdk")),
    step("release build", "cargo build --release --quiet"),
    needs(&[STRACE], step("chaos", "cargo xtask chaos")),
    needs(&[STRACE, VALGRIND], step("counted", "cargo xtask counted")),
    step("planted bugs", "cargo xtask planted"),
];

fn always() -> bool {
    true
}

fn nextest() -> bool {
    debian::find("cargo-nextest").is_some()
}

fn no_nextest() -> bool {
    !nextest()
}

/// Runs the steps in order and stops at the first that fails.
pub fn run(root: &Path, quick: bool) -> bool {
    let steps: Vec<&Step> = STEPS.iter().filter(|s| (s.quick || !quick) && (s.when)()).collect();
    let begun = Instant::now();
    for (i, step) in steps.iter().enumerate() {
        println!("[{}/{}] {}: {}", i + 1, steps.len(), step.name, step.command);
        let start = Instant::now();
        if let Err(why) = perform(root, step) {
            println!("      {} FAILED after {:.1} s: {why}", step.name, start.elapsed().as_secs_f64());
            return false;
        }
        println!("      {} ok, {:.1} s", step.name, start.elapsed().as_secs_f64());
    }
    println!("all {} steps passed in {:.1} s", steps.len(), begun.elapsed().as_secs_f64());
    true
}

/// Builds the simulator as fast code with every assert, and plays seeds.
pub fn sim(root: &Path, args: &[&str]) -> bool {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--profile", "sim", "--package", "edgewise-sim", "--"]).args(args);
    match command.current_dir(root).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("error: cargo could not be started: {error}");
            false
        }
    }
}

fn perform(root: &Path, step: &Step) -> Result<(), String> {
    for tool in step.needs {
        tool.ensure()?;
    }
    let mut words = step.command.split_whitespace();
    let program = words.next().ok_or("the step has no command")?;
    let status = Command::new(program).args(words).current_dir(root).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("{program} could not be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_says_how() {
        assert_eq!(perform(Path::new("/"), &step("fine", "true")), Ok(()));
        assert!(perform(Path::new("/"), &step("bad", "false")).unwrap_err().contains("exit status: 1"));
        assert!(
            perform(Path::new("/"), &step("gone", "no-such-program")).unwrap_err().contains("could not be started")
        );
    }

    #[test]
    fn a_step_whose_tool_is_there_runs() {
        assert_eq!(
            perform(Path::new("/"), &needs(&[Tool { program: "sh", package: "dash" }], step("fine", "true"))),
            Ok(())
        );
    }

    #[test]
    fn tests_run_exactly_once_with_or_without_nextest() {
        let tests = STEPS.iter().filter(|s| s.name == "tests" && (s.when)());
        assert_eq!(tests.count(), 1);
    }

    #[test]
    fn the_quick_loop_is_a_part_of_the_whole() {
        let quick: Vec<&str> = STEPS.iter().filter(|s| s.quick && (s.when)()).map(|s| s.name).collect();
        assert_eq!(quick, ["format", "tidy", "tests", "a few storms"]);
    }
}
