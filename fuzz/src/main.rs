//! `cargo xtask fuzz [TARGET] [--minutes N] [--seed N]`: hunts that last.
//!
//! Each target is hunted in a process of its own with bounded memory, so that even an input which ends the
//! process (a stack that overflows, memory that runs out) is found and kept.

use edgewise_fuzz::corpus;
use edgewise_fuzz::hunt::{Found, Hunt};
use edgewise_fuzz::targets::{self, Target};
use std::error::Error;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// What one hunt may use. Inputs are small, so this is plenty for whoever does not multiply them.
const MEMORY: u64 = 1 << 30;
/// One input may not take longer, whatever else the machine does; only a hang reaches it.
const HANG: Duration = Duration::from_secs(120);

struct Wish {
    target: Option<&'static Target>,
    time: Duration,
    seed: u64,
    /// Hunt in this very process.
    here: bool,
}

fn main() -> ExitCode {
    let wish = match read(std::env::args().skip(1)) {
        Ok(wish) => wish,
        Err(why) => {
            let names: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
            eprintln!(
                "error: {why}\nUsage: cargo xtask fuzz [TARGET] [--minutes N] [--seed N]\nTargets: {}",
                names.join(", ")
            );
            return ExitCode::from(2);
        }
    };
    let targets = wish.target.map_or(targets::ALL, std::slice::from_ref);
    let hunt = if wish.here { hunt } else { hunt_in_a_process };
    let good = targets.iter().fold(true, |good, target| {
        let hunted = hunt(target, &wish).unwrap_or_else(|error| {
            eprintln!("error: {}: {error}", target.name);
            false
        });
        good & hunted
    });
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(mut words: impl Iterator<Item = String>) -> Result<Wish, String> {
    let mut wish = Wish { target: None, time: Duration::from_secs(60), seed: 1, here: false };
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().unwrap_or_default();
            value.parse::<u64>().map_err(|_| format!("{word} needs a number, not {value:?}"))
        };
        match word.as_str() {
            "--minutes" => wish.time = Duration::from_secs(60 * number()?),
            "--seconds" => wish.time = Duration::from_secs(number()?),
            "--seed" => wish.seed = number()?,
            "--here" => wish.here = true,
            name => wish.target = Some(targets::find(name).ok_or(format!("there is no target {name:?}"))?),
        }
    }
    Ok(wish)
}

/// Where the input lies that is being tried.
fn last(target: &Target) -> PathBuf {
    std::env::temp_dir().join(format!("edgewise-fuzz-{}-{}", target.name, std::process::id()))
}

fn hunt_in_a_process(target: &'static Target, wish: &Wish) -> Result<bool, Box<dyn Error>> {
    let (seconds, seed) = (wish.time.as_secs().to_string(), wish.seed.to_string());
    let mut child = Command::new(std::env::current_exe()?)
        .args([target.name, "--here", "--seconds", &seconds, "--seed", &seed])
        .spawn()?;
    let last = std::env::temp_dir().join(format!("edgewise-fuzz-{}-{}", target.name, child.id()));
    let end = Instant::now() + wish.time + HANG;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > end {
            child.kill()?;
            break child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    if status.code().is_none() {
        let why = format!("the process did not survive it: {status}");
        tell(target, &Found { input: std::fs::read(&last)?, why })?;
    }
    let _ = std::fs::remove_file(last);
    Ok(status.success())
}

fn hunt(target: &'static Target, wish: &Wish) -> Result<bool, Box<dyn Error>> {
    let limit = rustix::process::Rlimit { current: Some(MEMORY), maximum: None };
    rustix::process::setrlimit(rustix::process::Resource::As, limit)?;
    // What was found is told once; making it smaller panics a thousand times more.
    std::panic::set_hook(Box::new(|_| ()));
    let end = Instant::now() + wish.time;
    let mut hunt = match Hunt::begin(target, wish.seed) {
        Ok(hunt) => hunt,
        Err(found) => return tell(target, &found).map(|()| false),
    };
    let mut file = File::create(last(target))?;
    hunt.before = Box::new(move |input| {
        // A hunt without this still finds panics, so a full disk does not end it.
        let _ = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(input));
    });
    let mut rounds = 0_u64;
    while Instant::now() < end {
        rounds += 1;
        if let Err(found) = hunt.round() {
            tell(target, &found)?;
            println!("{}: after {rounds} rounds of seed {}", target.name, wish.seed);
            return Ok(false);
        }
    }
    println!("{}: {rounds} rounds, {} marks, nothing found", target.name, hunt.marks());
    Ok(true)
}

fn tell(target: &Target, found: &Found) -> Result<(), Box<dyn Error>> {
    let path = corpus::keep(target.name, &found.input)?;
    let path = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_or(&path).display().to_string();
    println!("{}: {}\n  by fuzz/{path}: {:?}", target.name, found.why, String::from_utf8_lossy(&found.input));
    Ok(())
}
