//! `edgewise init`: a project where there was none. Nothing that exists is touched.

use super::{Context, schema};
use crate::args::Init;
use crate::config::{DIR, FILE, Origin};
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use serde_json::json;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The settings, all as they are by default, so that the file shows what there is.
const SETTINGS: &str = include_str!("init/edgewise.toml");
/// A flow that runs in a few seconds and shows a spread and a retry.
const DEMO: &str = include_str!("init/demo.yaml");
const DEMO_FILE: &str = "demo.yaml";
/// The schema of flows, in the data folder.
const SCHEMA_FILE: &str = "flow.schema.json";

pub(super) fn perform(args: &Init, context: &mut Context<'_>) -> Result<Exit> {
    let settings = (context.cwd.join(FILE), SETTINGS);
    let demo = args.demo.then(|| (context.cwd.join(DEMO_FILE), DEMO));
    // In a project only the demo can be missing; its data may be anywhere.
    let only_demo = args.demo && is_there(&settings.0);
    let files: Vec<_> = (!only_demo).then_some(settings).into_iter().chain(demo).collect();
    refuse_to_overwrite(files.iter().map(|(path, _)| path), context.cwd)?;
    let dir = if only_demo { None } else { make_data_folder(&data_folder(context))? };
    let schema = write_schema(&context.cwd.join(DIR))?;
    for (path, text) in &files {
        let first = if schema && path.ends_with(DEMO_FILE) { first_line() } else { String::new() };
        write_new(path, &(first + text))?;
    }
    let made = files.iter().map(|(path, _)| path).chain(&dir);
    let made: Vec<String> = made.map(|path| shown(path, context.cwd)).collect();
    let lines: Vec<String> = made.iter().map(|path| format!("made {}", crate::text::escape(path))).collect();
    context.printer.one(context.cwd.display().to_string(), &lines, &json!({ "made": made }))?;
    if args.demo {
        context.printer.say(&format!("next: edgewise run {DEMO_FILE}"));
    }
    Ok(Exit::Ok)
}

/// The one that was asked for, else one here: a new project does not share the data of one further up.
fn data_folder(context: &Context<'_>) -> PathBuf {
    match context.config.dir.origin {
        Origin::Flag(_) | Origin::Env(_) => context.config.dir.value.clone(),
        Origin::File(..) | Origin::Default => context.cwd.join(DIR),
    }
}

/// Makes the folder, unless it is there; gives it if it is new.
fn make_data_folder(dir: &Path) -> Result<Option<PathBuf>> {
    let is_new = !is_there(dir);
    // Only its owner may look: inputs, outputs and logs are kept there as they are.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| Problem::file("made", dir, &error))?;
    let ignore = dir.join(".gitignore");
    if !ignore.exists() {
        write_new(&ignore, "*\n")?;
    }
    Ok(is_new.then(|| dir.to_owned()))
}

/// Writes the schema of flows beside the data, where editors find it without a network. It is derived: what an
/// older version has written is replaced. False if there is no data here.
fn write_schema(dir: &Path) -> Result<bool> {
    if !dir.is_dir() {
        return Ok(false);
    }
    let path = dir.join(SCHEMA_FILE);
    fs::write(&path, schema::text()?).map_err(|error| Problem::file("written", &path, &error))?;
    Ok(true)
}

/// By this line editors know what a flow may have in it.
fn first_line() -> String {
    format!("# yaml-language-server: $schema={DIR}/{SCHEMA_FILE}\n")
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn shown(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

fn refuse_to_overwrite<'a>(paths: impl Iterator<Item = &'a PathBuf>, cwd: &Path) -> Result<()> {
    let there: Vec<String> = paths.filter(|path| is_there(path)).map(|path| shown(path, cwd)).collect();
    if there.is_empty() {
        return Ok(());
    }
    let exist = if there.len() == 1 { "exists" } else { "exist" };
    let what = format!("{} already {exist}, nothing was changed", there.join(" and "));
    Err(Problem::new(Kind::Conflict, "already_there", what)
        .next("move it away, or keep what is there: there is nothing else to prepare"))
}

fn write_new(path: &Path, text: &str) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| Problem::file("written", path, &error))
}

#[cfg(test)]
mod tests;
