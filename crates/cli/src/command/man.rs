//! `edgewise man`: the manual, made from what `--help` says.

use super::Context;
use crate::args::{Cli, Man};
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use clap::Command;
use edgewise_core::Kind;
use serde_json::json;
use std::path::Path;

pub(super) fn perform(args: &Man, context: &mut Context<'_>) -> Result<Exit> {
    let mut tree = Cli::tree();
    // Only then do the commands in it know their whole names and what holds everywhere.
    tree.build();
    match &args.to {
        Some(to) => write(&tree, to, context),
        None => {
            context.printer.bytes(&page(find(&tree, &args.command)?)?.1)?;
            Ok(Exit::Ok)
        }
    }
}

/// The command of these words.
fn find<'a>(tree: &'a Command, words: &[String]) -> Result<&'a Command> {
    words.iter().try_fold(tree, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let what = format!("`{}` has no command `{word}`", command.get_bin_name().unwrap_or("edgewise"));
            Problem::new(Kind::NotFound, "no_such_command", what).next("`edgewise --help` lists the commands")
        })
    })
}

/// The name of a command's page, and the page.
fn page(command: &Command) -> Result<(String, Vec<u8>)> {
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page).map_err(|error| Problem::output(&error))?;
    Ok((man.get_filename(), page))
}

/// The pages of a command and of all in it.
fn pages(command: &Command) -> Result<Vec<(String, Vec<u8>)>> {
    let mut all = vec![page(command)?];
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        all.extend(pages(inner)?);
    }
    Ok(all)
}

fn write(tree: &Command, to: &Path, context: &mut Context<'_>) -> Result<Exit> {
    let folder = context.cwd.join(to);
    std::fs::create_dir_all(&folder).map_err(|error| Problem::file("made", &folder, &error))?;
    let pages = pages(tree)?;
    for (name, page) in &pages {
        let path = folder.join(name);
        std::fs::write(&path, page).map_err(|error| Problem::file("written", &path, &error))?;
    }
    let shown = to.display().to_string();
    let line = format!("wrote {} pages to {}", pages.len(), crate::text::escape(&shown));
    context.printer.one(shown, &[line], &json!({ "pages": pages.len(), "to": to.display().to_string() }))?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &Command, before: &str, names: &mut Vec<String>) {
        let name = format!("{before}{}", command.get_name());
        command.get_subcommands().for_each(|inner| self::names(inner, &format!("{name}-"), names));
        names.push(name);
    }

    #[test]
    fn every_command_has_a_page_and_stands_on_the_page_above_it() {
        let mut tree = Cli::tree();
        tree.build();
        let mut expected = Vec::new();
        names(&tree, "", &mut expected);
        let made = pages(&tree).unwrap();
        let mut found: Vec<&str> = made.iter().map(|(name, _)| name.trim_end_matches(".1")).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        let first = String::from_utf8(made[0].1.clone()).unwrap();
        for command in tree.get_subcommands() {
            assert!(first.contains(&command.get_name().replace('-', "\\-")), "{}", command.get_name());
        }
        assert!(first.contains("the time given was not enough"), "the exit codes are in it");
    }

    #[test]
    fn a_command_that_is_not_there_is_said_to_be_missing() {
        let tree = Cli::tree();
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(find(&tree, &words("gate approve")).unwrap().get_name(), "approve");
        assert_eq!(find(&tree, &words("gate frobnicate")).unwrap_err().code, "no_such_command");
    }
}
