//! Plays seeds: `edgewise-sim --seeds 10000`. Says which seed fails, and how, and ends with 1.

use edgewise_sim::cover::Cover;
use edgewise_sim::program;
use edgewise_sim::{Options, Seed, Summary, Tier, Violation, kept, run_seed, shrink};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

const HELP: &str = "\
Usage: edgewise-sim [--seed N] [--seeds K] [--kept] [--sqlite | --events] [--trace] [--no-shrink] [--all] [--programs]

  --seed N      the first seed (0)
  --seeds K     how many (1, or none beside --kept)
  --kept        before them all seeds that once found something, each over what it was found with
  --sqlite      over SQLite files instead of memory
  --events      events straight into the fold instead of an engine over a store
  --trace       print what happens
  --no-shrink   do not look for a shorter schedule when a seed fails
  --all         go on after a seed that fails, and say of each in a line how it does
  --programs    programs against the reference instead of storms
";

/// Over so many seeds everything that can happen must have happened.
const ENOUGH: u64 = 1_000;
/// Over so many also what is rare.
const ENOUGH_FOR_ALL: u64 = 10_000;
/// Over so many seeds in files every trouble must have been felt.
const ENOUGH_IN_FILES: u64 = 200;

#[derive(Default)]
struct Args {
    seed: u64,
    seeds: u64,
    kept: Vec<Seed>,
    options: Options,
    whole: bool,
    all: bool,
    programs: bool,
}

fn parse() -> Result<Args, String> {
    let mut args = Args::default();
    let mut seeds = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            value.parse::<u64>().map_err(|_| format!("{word} needs a number, found {value:?}"))
        };
        match word.as_str() {
            "--seed" => args.seed = number()?,
            "--seeds" => seeds = Some(number()?),
            "--kept" => args.kept = kept(true),
            "--sqlite" => args.options.tier = Tier::Sqlite,
            "--events" => args.options.tier = Tier::Events,
            "--trace" => args.options.trace = true,
            "--no-shrink" => args.whole = true,
            "--all" => args.all = true,
            "--programs" => args.programs = true,
            other => return Err(format!("expected an option, found {other:?}")),
        }
    }
    args.seeds = seeds.unwrap_or(u64::from(args.kept.is_empty()));
    Ok(args)
}

impl Args {
    /// How many seeds are played.
    fn count(&self) -> u64 {
        self.seeds + self.kept.len() as u64
    }

    /// The n-th of them: first those that are kept.
    fn nth(&self, n: u64) -> Option<Seed> {
        let (kept, tier) = (self.kept.len() as u64, self.options.tier);
        match self.kept.get(n as usize) {
            Some(seed) => Some(*seed),
            None => (n < self.count()).then(|| Seed { number: self.seed.saturating_add(n - kept), tier }),
        }
    }

    /// How a seed is played.
    fn options_of(&self, seed: Seed) -> Options {
        Options { tier: seed.tier, ..self.options.clone() }
    }
}

/// What all seeds came to.
#[derive(Default)]
struct Total {
    steps: u64,
    cover: Cover,
    failed: Option<(Seed, Violation)>,
}

impl Total {
    /// Plays a seed; true if it fails.
    fn play(&mut self, seed: Seed, args: &Args) -> bool {
        let played = match args.programs {
            true => program::check_seed(seed.number).map(|_| Summary::default()),
            false => run_seed(seed.number, &args.options_of(seed)),
        };
        match played {
            Ok(Summary { steps, cover, schedule, .. }) => {
                self.steps += steps;
                // What must happen must happen where it is asked for.
                if seed.tier == args.options.tier {
                    self.cover.merge(&cover);
                }
                schedule.iter().for_each(|line| println!("{line}"));
                false
            }
            Err(violation) => {
                if args.all {
                    println!("seed {} fails: {}", seed.number, violation.to_string().replace('\n', " "));
                }
                self.fail(seed, violation);
                true
            }
        }
    }

    /// The lowest failing seed is told, so that the same one is told whoever was faster.
    fn fail(&mut self, seed: Seed, violation: Violation) {
        if self.failed.as_ref().is_none_or(|(other, _)| seed < *other) {
            self.failed = Some((seed, violation));
        }
    }

    fn merge(&mut self, other: Total) {
        self.steps += other.steps;
        self.cover.merge(&other.cover);
        if let Some((seed, violation)) = other.failed {
            self.fail(seed, violation);
        }
    }
}

/// Plays seeds on every core until one fails.
fn play(args: &Args) -> Total {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let total = Mutex::new(Total::default());
    let work = || {
        let mut mine = Total::default();
        while !stop.load(Ordering::Relaxed) {
            let Some(seed) = args.nth(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let failed = mine.play(seed, args);
            stop.fetch_or(failed && !args.all, Ordering::Relaxed);
        }
        total.lock().unwrap_or_else(std::sync::PoisonError::into_inner).merge(mine);
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    std::thread::scope(|scope| {
        for _ in 0..cores.min(args.count()) {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The program that fails, as short as it was found.
fn tell_program(seed: u64) {
    let short = program::shorten(&program::grow(seed), seed);
    println!("repeat with: cargo xtask sim --programs --seed {seed}\n\n{short}");
    if let Err(violation) = program::check(&short, seed) {
        println!("{violation}");
    }
}

fn tell_failure(args: &Args, seed: Seed, violation: &Violation) {
    println!("seed {} fails: {violation}", seed.number);
    if args.programs {
        return tell_program(seed.number);
    }
    println!("repeat with: {}", seed.again());
    let shrunk = if args.whole { None } else { shrink(seed.number, &args.options_of(seed)) };
    let (told, steps) = match &shrunk {
        Some(shrunk) => (&shrunk.violation, format!("the {} steps that matter", shrunk.steps.len())),
        None => (violation, "all steps".into()),
    };
    println!("\n{steps}:");
    told.schedule.iter().for_each(|line| println!("{line}"));
    println!("\n{told}");
}

fn main() -> ExitCode {
    let args = match parse() {
        Ok(args) => args,
        Err(why) => {
            eprint!("error: {why}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let total = play(&args);
    if let Some((seed, violation)) = &total.failed {
        tell_failure(&args, *seed, violation);
        return ExitCode::FAILURE;
    }
    let took = begun.elapsed().as_secs_f64();
    let per = |count: u64| count as f64 / took;
    println!(
        "{} seeds, {} steps, no violation; {:.0} seeds/s, {:.0} steps/s",
        args.count(),
        total.steps,
        per(args.count()),
        per(total.steps)
    );
    if args.count() == 1 {
        return ExitCode::SUCCESS;
    }
    print!("{}", total.cover);
    let missing = match args.options.tier {
        _ if args.programs => Vec::new(),
        Tier::Memory if args.seeds >= ENOUGH => total.cover.missing(args.seeds >= ENOUGH_FOR_ALL),
        Tier::Sqlite if args.seeds >= ENOUGH_IN_FILES => total.cover.not_felt_in_files(),
        _ => Vec::new(),
    };
    if missing.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("never happened, so not tested: {}", missing.join(", "));
    ExitCode::FAILURE
}
