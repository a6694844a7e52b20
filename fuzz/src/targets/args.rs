//! The command line, a word on each line of the input.

use super::{Target, words};
use edgewise_cli::args::Cli;
use edgewise_cli::style::ColorChoice;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

pub const TARGET: Target = Target {
    name: "args",
    words: &[
        "\n",
        "\n--",
        "\n-",
        "=",
        "@",
        "@1",
        "a:=1",
        "a=b",
        "a:=[1,2",
        "1h30m",
        "-5s",
        "ew-7k2",
        "{}",
        "\u{1b}[31m",
    ],
    defined,
    attempt,
};

/// Every command and option there is, and every value that one names.
fn defined() -> Vec<String> {
    let mut tree = Cli::tree();
    // Only then do the commands in it know what holds everywhere.
    tree.build();
    let (mut all, mut commands) = (BTreeSet::new(), vec![&tree]);
    while let Some(command) = commands.pop() {
        all.insert(command.get_name().to_owned());
        for arg in command.get_arguments() {
            all.extend(arg.get_long().map(|long| format!("--{long}")));
            all.extend(arg.get_short().map(|short| format!("-{short}")));
            all.extend(arg.get_possible_values().iter().map(|value| value.get_name().to_owned()));
        }
        commands.extend(command.get_subcommands());
    }
    all.into_iter().collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    #[test]
    fn every_command_has_an_input_in_the_corpus_that_is_understood_and_a_word() {
        let is_read = |input: &[u8]| {
            let mark = attempt(input);
            mark.contains(' ') || mark.starts_with("Display")
        };
        let good = corpus::of("args").into_iter().map(|(_, input)| input).filter(|input| is_read(input));
        let first = |input: Vec<u8>| input.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec);
        let begun: BTreeSet<Vec<u8>> = good.filter_map(first).collect();
        let (tree, words) = (Cli::tree(), defined());
        for word in ["rerun", "freeze", "schedule", "--verify", "--detach", "json"] {
            assert!(words.iter().any(|known| known == word), "{word} is no word");
        }
        for command in tree.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(begun.contains(name.as_bytes()), "nothing good in the corpus begins with {name}");
        }
    }
}
