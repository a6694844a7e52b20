//! `cargo xtask counted`: figures that are counted, not timed, and so hold on a busy machine too.
//!
//! - Syncs: a step of a chain costs one sync of the ledger.
//! - Instructions: an event costs about the same in a run of a million tasks as in one of a thousand, and a byte of a
//!   flow file about the same in a large one as in a small one.

mod shapes;

use crate::built;
use std::path::Path;
use std::process::Command;

/// A chain of 1,000, once to warm up and once to be measured.
const STEPS: f64 = 2_000.0;
/// One sync a step; opening, the start and moving the log into the file come on top.
const SYNCS_PER_STEP: (f64, f64) = (1.0, 1.05);
const SMALL: u64 = 1_000;
const LARGE: u64 = 1_000_000;
const GROWTH: f64 = 1.5;

/// Checks all of them; says what was counted.
pub fn run(root: &Path) -> bool {
    told(built::released(root).map(|binary| vec![syncs(&binary), growth(&binary), shapes::check(&binary)]))
}

/// Times what is otherwise counted: only on a quiet machine does that mean something.
pub fn times(root: &Path) -> bool {
    told(built::released(root).map(|binary| vec![shapes::times(&binary)]))
}

fn told(checks: Result<Vec<Result<String, String>>, String>) -> bool {
    let checks = checks.unwrap_or_else(|why| vec![Err(why)]);
    checks.into_iter().all(|check| match check {
        Ok(line) => {
            println!("{line}");
            true
        }
        Err(line) => {
            println!("counted: {line}");
            false
        }
    })
}

fn syncs(binary: &Path) -> Result<String, String> {
    let trace = std::env::temp_dir().join(format!("edgewise-syncs-{}", std::process::id()));
    let folder = std::env::temp_dir().join(format!("edgewise-counted-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-e", "trace=fsync,fdatasync", "-o"]).arg(&trace).arg(binary);
    let done = output(command.args(["bench", "w3", "--once"]).current_dir(&folder));
    let text = std::fs::read_to_string(&trace).map_err(|e| e.to_string())?;
    let _ = std::fs::remove_file(&trace);
    let _ = std::fs::remove_dir_all(&folder);
    done?;
    let per_step = ledger_syncs(&text) as f64 / STEPS;
    let (least, most) = SYNCS_PER_STEP;
    let line = format!("{per_step:.3} syncs of the ledger for each step of a chain");
    if (least..=most).contains(&per_step) { Ok(line) } else { Err(format!("{line}: expected {least} to {most}")) }
}

/// Lines that begin a sync of the ledger; what strace resumes is not counted twice.
fn ledger_syncs(trace: &str) -> usize {
    trace.lines().filter(|l| l.contains("sync(") && l.contains("ledger.db")).count()
}

fn growth(binary: &Path) -> Result<String, String> {
    let small = per_event(binary, SMALL, 2 * SMALL - 1_000)?;
    let large = per_event(binary, LARGE, 100_000)?;
    let line = format!("{small:.0} instructions an event with {SMALL} tasks, {large:.0} with {LARGE}");
    if large < small * GROWTH { Ok(line) } else { Err(format!("{line}: more than {GROWTH} times as many")) }
}

/// The difference between folding some events and folding more, so that everything else cancels out.
fn per_event(binary: &Path, tasks: u64, events: u64) -> Result<f64, String> {
    let few = 500;
    let (less, more) = (instructions(binary, tasks, few)?, instructions(binary, tasks, few + events)?);
    Ok((more - less) as f64 / events as f64)
}

fn instructions(binary: &Path, tasks: u64, events: u64) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary);
    command.args(["bench", "--fold", &tasks.to_string(), &events.to_string()]);
    collected(&output(&mut command)?).ok_or_else(|| "valgrind did not say how many instructions there were".into())
}

/// The number behind `Collected :`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|l| l.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{command:?} could not be started: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{command:?} failed: {text}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_told_from_the_trace() {
        let trace = "12 fdatasync(9</x/ledger.db-wal>) = 0\n12 fdatasync(9</x/ledger.db-wal> <unfinished ...>\n\
                     12 <... fdatasync resumed>) = 0\n12 fdatasync(9</x/state.db-wal>) = 0\n12 fsync(3</x>) = 0";
        assert_eq!(ledger_syncs(trace), 2);
    }

    #[test]
    fn instructions_are_told_from_what_valgrind_says() {
        assert_eq!(collected("==1== Events    : Ir\n==1== Collected : 1234567\n"), Some(1_234_567));
        assert_eq!(collected("nothing"), None);
    }
}
