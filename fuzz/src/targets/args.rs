//! The command line, a word on each line of the input.

use super::{Target, words};
use edgewise_cli::args::Cli;
use edgewise_cli::style::ColorChoice;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

pub const TARGET: Target = Target {
    name: "args",
    words: &[
        "\n",
        "\n--",
        "\n-",
        "=",
        "run",
        "watch",
        "runs",
        "show",
        "why",
        "logs",
        "events",
        "history",
        "cancel",
        "pause",
        "resume",
        "gate",
        "approve",
        "reject",
        "withdraw",
        "list",
        "check",
        "doctor",
        "bench",
        "engine",
        "init",
        "--json",
        "--verify",
        "--rebuild",
        "--detach",
        "--wait",
        "--timeout",
        "--key",
        "--label",
        "--input",
        "-i",
        "-o",
        "-q",
        "--as",
        "--dir",
        "--color",
        "--state",
        "--limit",
        "--since",
        "--follow",
        "--task",
        "--attempt",
        "--comment",
        "--help",
        "--version",
        "@",
        "@1",
        "a:=1",
        "a=b",
        "a:=[1,2",
        "1h30m",
        "-5s",
        "never",
        "always",
        "json",
        "table",
        "{}",
        "\u{1b}[31m",
    ],
    attempt,
};

fn attempt(input: &[u8]) -> String {
    let line = input.split(|byte| *byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    let all: Vec<OsString> = std::iter::once(OsString::from("edgewise")).chain(line).collect();
    match Cli::read(all, ColorChoice::Never) {
        Ok(cli) => {
            let command = format!("{:?}", cli.command);
            // Its shape: which options were given, not what they were given.
            let shape = command.split('"').step_by(2).collect::<String>();
            let flags = cli.global.flags();
            format!("{} {:?}", words(&shape).chars().take(60).collect::<String>(), flags.output)
        }
        Err(error) => {
            let told = error.render().to_string();
            assert!(!told.trim().is_empty(), "{:?} says nothing", error.kind());
            format!("{:?}", error.kind())
        }
    }
}
