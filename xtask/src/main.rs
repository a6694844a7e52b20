//! The project's own chores, written in the project's own language: `cargo xtask test`, `tidy`, `sim`, `chaos`, `counted`,
//! `fuzz`, `sdk`, `planted`, `schemathesis`.
//!
//! No dependencies: whatever checks the code must build before the code does.

mod built;
mod chaos;
mod counted;
mod debian;
mod fuzz;
mod planted;
mod schemathesis;
mod sdk;
mod source;
mod steps;
mod tidy;
mod tree;

use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  test          everything a change must pass, step by step
  test --quick  the developer's loop: fmt, tidy, tests in debug, a few storms
  tidy          the rules that no compiler checks
  sim           storms from seeds: --seed N [--seeds K] [--kept] [--sqlite | --events] [--trace] [--no-shrink] [--all]
  chaos [WORD] [--times N]
                kills, stops, full disks and crowds for the released binary (needs a release build)
  counted       figures that are counted: syncs, instructions (needs a release build)
  counted --times
                how long 1 MB of each hard shape of file takes to read (for a quiet machine)
  fuzz [TARGET] [--minutes N] [--seed N]
                strange input for everything that reads bytes, a minute for each target unless told
  sdk [python | typescript | kill]
                the SDKs against the real server, and kill -9 under load through both
  planted [NAME | --record]
                proof of the simulator: bugs planted in a copy of the sources are found
  schemathesis  requests made from the OpenAPI document, and every answer held against it (needs Python and PyPI)
";

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let good = match words[..] {
        ["test"] => steps::run(root, false),
        ["test", "--quick"] => steps::run(root, true),
        ["tidy"] => tidy::run(root),
        ["sim", ..] => steps::sim(root, &words[1..]),
        ["chaos", ref rest @ ..] => chaos::run(root, rest),
        ["counted"] => counted::run(root),
        ["counted", "--times"] => counted::times(root),
        ["fuzz", ref rest @ ..] => fuzz::run(root, rest),
        ["sdk", ref rest @ ..] => sdk::run(root, rest),
        ["planted", ref rest @ ..] => planted::run(root, rest),
        ["schemathesis"] => schemathesis::run(root),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            true
        }
        _ => {
            eprint!("error: expected a command, found {words:?}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
