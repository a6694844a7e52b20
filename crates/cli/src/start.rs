//! From the process to a command and back: what `main` does.

use crate::args::Cli;
use crate::command::{self, Context};
use crate::config::{Config, World};
use crate::exit::Exit;
use crate::output::{Format, Printer};
use crate::problem::{Problem, Result};
use crate::style::{ColorChoice, Style};
use clap::ValueEnum;
use edgewise_core::Kind;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal};
use std::process::ExitCode;

/// Runs the program on the process's own arguments.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let mut printer = Printer::new(Box::new(BufWriter::new(io::stdout())), Box::new(io::stderr()));
    let hint = Hint::of(&words);
    hint.apply(&mut printer);
    match Cli::read(words, hint.color) {
        Ok(cli) => finish(begin(&cli, &mut printer), &mut printer).into(),
        Err(usage) => refuse(&usage, &mut printer, hint.json).into(),
    }
}

fn begin(cli: &Cli, printer: &mut Printer) -> Result<Exit> {
    let cwd = std::env::current_dir().map_err(|error| {
        Problem::new(Kind::NotFound, "no_cwd", "the working directory is gone")
            .why(error.to_string())
            .next("change to another one")
    })?;
    let var = |name: &str| std::env::var(name).ok();
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    let mut config = Config::load(cli.global.flags(), &World { cwd: cwd.clone(), var: &var, cores })?;
    if command::is_of_folder(&cli.command) {
        config.addr.value = None;
    }
    printer.format = config.output.value;
    printer.quiet = cli.global.quiet;
    dress(printer, config.color.value);
    command::perform(&cli.command, &mut Context { config: &config, cwd: &cwd, printer })
}

/// Tells what went wrong, makes sure that the output has left, and says how it ended.
fn finish(result: Result<Exit>, printer: &mut Printer) -> Exit {
    let result = result.and_then(|exit| printer.flush().map(|()| exit));
    match result {
        Ok(exit) => exit,
        Err(problem) => {
            printer.problem(&problem);
            problem.exit()
        }
    }
}

/// Help and the version come out as errors of the parser too; only the others are errors.
fn refuse(usage: &clap::Error, printer: &mut Printer, json: bool) -> Exit {
    if json && usage.use_stderr() {
        printer.problem(&misused(&usage.to_string()));
        return Exit::Usage;
    }
    // A reader that left early is no error, and there is nobody else to tell.
    let _ = usage.print();
    if usage.use_stderr() { Exit::Usage } else { Exit::Ok }
}

/// What the parser says before it shows how it is meant; with its tip, if it has one.
fn misused(text: &str) -> Problem {
    let said = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    let what = said.trim_start_matches("error: ").to_owned();
    Problem::new(Kind::Invalid, "usage", what).next(tip.unwrap_or("see `edgewise --help`"))
}

fn dress(printer: &mut Printer, choice: ColorChoice) {
    let var = |name: &str| std::env::var(name).ok();
    let terminal = io::stdout().is_terminal();
    printer.out_style = Style::detect(choice, terminal, &var);
    printer.err_style = Style::detect(choice, io::stderr().is_terminal(), &var);
    printer.columns = terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
}

/// How to speak before the arguments are understood, so that a usage error has the right form too.
struct Hint {
    json: bool,
    color: ColorChoice,
}

impl Hint {
    fn of(words: &[OsString]) -> Self {
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).take_while(|word| *word != "--").collect();
        let after = |flag: &str| words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1]);
        let joined = |flag: &str| words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
        let value = |flag: &str| after(flag).or_else(|| joined(flag));
        let program = |format: &str| format == "json" || format == "jsonl";
        let output = value("-o").or_else(|| value("--output"));
        let json = words.contains(&"--json") || words.contains(&"-ojson") || output.is_some_and(program);
        let color = value("--color").and_then(|word| ColorChoice::from_str(word, true).ok()).unwrap_or_default();
        Self { json, color }
    }

    fn apply(&self, printer: &mut Printer) {
        printer.format = if self.json { Format::Json } else { Format::Table };
        dress(printer, self.color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(line: &str) -> Hint {
        Hint::of(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_reader_is_known_before_the_arguments_are() {
        for line in ["edgewise --json x", "edgewise -o json", "edgewise --output=jsonl"] {
            assert!(hint(line).json, "{line}");
        }
        for line in ["edgewise", "edgewise -o table", "edgewise -- --json"] {
            assert!(!hint(line).json, "{line}");
        }
        assert_eq!(hint("edgewise --color=never").color, ColorChoice::Never);
        assert_eq!(hint("edgewise --color sometimes").color, ColorChoice::Auto);
    }

    #[test]
    fn a_usage_error_names_what_is_missing_and_the_way_out() {
        let said = |line: &str| {
            let words = line.split_whitespace().map(OsString::from);
            let problem = misused(&Cli::read(words, ColorChoice::Never).unwrap_err().to_string());
            (problem.what, problem.next.unwrap())
        };
        let (what, next) = said("edgewise show --json");
        assert_eq!(what, "the following required arguments were not provided: <ID>");
        assert_eq!(next, "see `edgewise --help`");
        assert!(said("edgewise runs --limt 3").1.contains("--limit"));
        assert!(said("edgewise runs --limit 0").0.contains("0 is not in 1.."));
    }

    #[test]
    fn a_reader_that_left_is_a_good_end() {
        let mut printer = Printer::new(Box::new(io::sink()), Box::new(io::sink()));
        assert_eq!(finish(Err(Problem::output(&io::ErrorKind::BrokenPipe.into())), &mut printer), Exit::Ok);
        assert_eq!(finish(Err(Problem::new(Kind::Denied, "no", "no")), &mut printer), Exit::Denied);
        assert_eq!(finish(Ok(Exit::Waiting), &mut printer), Exit::Waiting);
    }
}
