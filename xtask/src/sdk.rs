//! `cargo xtask sdk`: the SDKs in Python and TypeScript against the real server, and kill -9 under load through both.
//!
//! What their checks need beside the languages is brought to the target folder and to `node_modules`, once.

use crate::built;
use crate::debian::{self, Tool};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What must be there before; the rest is installed here.
pub const TOOLS: &[Tool] = &[
    Tool { program: "python3", package: "python3" },
    Tool { program: "node", package: "nodejs" },
    Tool { program: "npm", package: "npm" },
];

/// The checker of Python's types, in a version that is the same everywhere.
const MYPY: &str = "mypy==2.4.1";
/// The oldest version of Node that has what the SDK uses.
const NODE: u32 = 20;

type Part = (&'static str, fn(&Place) -> Result<(), String>);

const PARTS: &[Part] = &[("python", python), ("typescript", typescript), ("kill", kill)];

/// Where everything is.
struct Place {
    root: PathBuf,
    target: PathBuf,
}

/// Checks all, or the parts that are named.
pub fn run(root: &Path, words: &[&str]) -> bool {
    let place = Place { root: root.to_owned(), target: built::target(root) };
    match check(&place, words) {
        Ok(()) => true,
        Err(why) => {
            eprintln!("error: {why}");
            false
        }
    }
}

fn check(place: &Place, words: &[&str]) -> Result<(), String> {
    let parts = chosen(words)?;
    for tool in TOOLS {
        tool.ensure()?;
    }
    built::tested(&place.root)?;
    for (name, part) in parts {
        println!("{name}");
        part(place)?;
    }
    Ok(())
}

fn chosen(words: &[&str]) -> Result<Vec<Part>, String> {
    if words.is_empty() {
        return Ok(PARTS.to_vec());
    }
    let known = |word: &&str| PARTS.iter().find(|(name, _)| name == word).copied();
    words.iter().map(|word| known(word).ok_or(format!("expected python, typescript or kill, found {word}"))).collect()
}

fn python(place: &Place) -> Result<(), String> {
    let python = venv(place)?;
    place.done("sdk/python", &python, &["-m", "mypy", "--cache-dir", &place.in_target("sdk/mypy")])?;
    place.done("sdk/python", "python3", &["-X", "dev", "-m", "unittest", "--quiet"])
}

/// The Python that has the checker of types.
fn venv(place: &Place) -> Result<String, String> {
    let (folder, python) = (place.in_target("sdk/venv"), place.in_target("sdk/venv/bin/python"));
    if place.done("", &python, &["-m", "pip", "show", "--quiet", MYPY.split("==").next().unwrap_or(MYPY)]).is_ok() {
        return Ok(python);
    }
    if place.done("", "python3", &["-m", "venv", "--clear", &folder]).is_err() {
        // Debian has it in a package of its own.
        debian::install("python3-venv");
        place.done("", "python3", &["-m", "venv", "--clear", &folder])?;
    }
    place.done("", &python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", MYPY])?;
    Ok(python)
}

fn typescript(place: &Place) -> Result<(), String> {
    built(place)?;
    place.done("sdk/typescript", "npm", &["run", "--silent", "tried"])
}

/// The SDK in TypeScript, compiled.
fn built(place: &Place) -> Result<(), String> {
    let version = Command::new("node").arg("--version").output().map_err(|error| error.to_string())?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    if major(&version) < NODE {
        return Err(format!("needs Node {NODE} or newer, this is {version}: install a newer one"));
    }
    let folder = place.root.join("sdk/typescript");
    if changed(&folder.join("package-lock.json")) > changed(&folder.join("node_modules/.package-lock.json")) {
        place.done("sdk/typescript", "npm", &["ci", "--silent", "--no-audit", "--no-fund"])?;
    }
    place.done("sdk/typescript", "npm", &["run", "--silent", "build"])
}

fn kill(place: &Place) -> Result<(), String> {
    built(place)?;
    place.done("sdk", "python3", &["kill.py"])
}

fn major(version: &str) -> u32 {
    version.trim_start_matches('v').split('.').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

fn changed(file: &Path) -> Option<std::time::SystemTime> {
    file.metadata().and_then(|about| about.modified()).ok()
}

impl Place {
    fn in_target(&self, path: &str) -> String {
        self.target.join(path).to_string_lossy().into_owned()
    }

    /// Runs a program in a folder of the project; an error says which.
    fn done(&self, folder: &str, program: &str, words: &[&str]) -> Result<(), String> {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.root.join(folder));
        command.env("EDGEWISE_BIN", self.target.join("debug/edgewise")).env("PYTHONDONTWRITEBYTECODE", "1");
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{program} {} in {folder}/: {status}", words.join(" "))),
            Err(error) => Err(format!("{program} could not be started: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_name() {
        let names = |words: &[&str]| chosen(words).map(|parts| parts.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(names(&[]), Ok(vec!["python", "typescript", "kill"]));
        assert_eq!(names(&["kill"]), Ok(vec!["kill"]));
        assert!(names(&["ruby"]).unwrap_err().contains("ruby"));
    }

    #[test]
    fn a_version_of_node_is_read() {
        for (text, number) in [("v20.20.2", 20), ("v8.1.0", 8), ("", 0)] {
            assert_eq!(major(text), number, "{text}");
        }
    }
}
