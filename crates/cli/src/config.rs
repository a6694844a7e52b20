//! Settings: few keys, good defaults, and each value knows where it came from.
//!
//! A flag wins over an `EDGEWISE_*` variable, that over `edgewise.toml` (the nearest one upwards from the working
//! directory, like git), that over the user's own file, that over the default. A key that is not known is an error
//! with its line, so that a typo never silently means the default.

mod file;
mod misfit;
mod queues;
mod retention;
mod shown;
mod words;

use crate::output::Format;
use crate::problem::{Problem, Result};
use crate::style::ColorChoice;
use edgewise_core::Kind;
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_engine::queues::Queues;
use edgewise_engine::retention::Retention;
use file::File;
use serde::de::DeserializeOwned;
pub use shown::Shown;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use words::{Hosts, Names};

/// The project's file.
pub const FILE: &str = "edgewise.toml";
/// Where data lives unless a setting says otherwise, beside the project's file.
pub const DIR: &str = ".edgewise";
/// Most tasks at once that may be asked for.
pub const MAX_WORKERS: usize = 4096;
/// Fewest tasks at once by default: even one core can wait for several commands.
const MIN_WORKERS: usize = 4;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Given on the command line.
    Flag(&'static str),
    /// A variable of the environment.
    Env(&'static str),
    /// A line of a file.
    File(PathBuf, usize),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "{name}"),
            Self::Env(name) => write!(f, "${name}"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// What counts.
    pub value: T,
    /// Who said so.
    pub origin: Origin,
}

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The project's folder: where its file is, or where we are if it has none. Commands of tasks run here.
    pub project: PathBuf,
    /// The data folder.
    pub dir: Setting<PathBuf>,
    /// The server that has the data, in place of the folder.
    pub addr: Setting<Option<String>>,
    /// What the server knows whoever acts by. Only the environment has it: files are shown, copied and committed.
    pub token: Option<String>,
    /// Who acts.
    pub who: Setting<Name>,
    /// How data is printed.
    pub output: Setting<Format>,
    /// When colour is used.
    pub color: Setting<ColorChoice>,
    /// How many tasks run at once.
    pub workers: Setting<usize>,
    /// Where requests may go besides public addresses.
    pub http_allow: Setting<Hosts>,
    /// Where secrets are found that the environment does not have; relative to the project's folder.
    pub secrets_file: Setting<Option<PathBuf>>,
    /// Secrets that a server may give to workers elsewhere.
    pub send_secrets: Setting<Names>,
    /// What the engine takes away by itself; nothing by default.
    pub retention: Setting<Option<Retention>>,
    /// How long domain events are kept that every consumer has acknowledged.
    pub keep_events: Setting<Option<Millis>>,
    /// What queues are set to.
    pub queues: Setting<Queues>,
    /// The tables that hold, as they were written: `retention`, and `queues.NAME` for each of them.
    tables: BTreeMap<String, Setting<toml::Value>>,
}

/// What the command line said; nothing means that it did not.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--dir`
    pub dir: Option<PathBuf>,
    /// `--as`
    pub who: Option<Name>,
    /// `-o` or `--json`
    pub output: Option<Format>,
    /// `--color`
    pub color: Option<ColorChoice>,
}

/// What settings are looked up in: passed in, so that tests have a world of their own.
pub struct World<'a> {
    /// The working directory.
    pub cwd: PathBuf,
    /// The environment.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    /// How many cores there are.
    pub cores: usize,
}

impl Config {
    /// Looks everything up. The error names the flag, the variable or the line that is wrong.
    pub fn load(flags: Flags, world: &World<'_>) -> Result<Self> {
        let project = nearest(&world.cwd).map(|path| File::read(&path)).transpose()?.flatten();
        let user = user_path(world).map(|path| File::read(&path)).transpose()?.flatten();
        let base = project.as_ref().map_or(world.cwd.as_path(), File::folder).to_owned();
        let look = Lookup { world, files: [project, user] };

        // Not EDGEWISE_OUTPUT: within a task, that names the file which takes the task's output.
        let output = look.find(flags.output.map(|f| (f, "-o")), "EDGEWISE_FORMAT", "output", Format::default)?;
        let color = look.find(flags.color.map(|c| (c, "--color")), "EDGEWISE_COLOR", "color", ColorChoice::default)?;
        let who = look.find(flags.who.map(|n| (n, "--as")), "EDGEWISE_AS", "as", || user_name(world))?;
        let workers = look.find(None, "EDGEWISE_WORKERS", "workers", || (world.cores * 2).max(MIN_WORKERS))?;
        let dir = look.find(flags.dir.map(|d| (d, "--dir")), "EDGEWISE_DIR", "dir", || PathBuf::from(DIR))?;
        let addr = look.find(None, "EDGEWISE_ADDR", "addr", || None::<String>)?;
        // Whoever names a folder means it.
        let folder = matches!(dir.origin, Origin::Flag(_));
        let addr = if folder { Setting { value: None, origin: dir.origin.clone() } } else { addr };
        let token = (world.var)("EDGEWISE_TOKEN").filter(|token| !token.is_empty());
        let dir = Setting { value: anchor(&dir, &base, world).join(&dir.value), origin: dir.origin };
        let http_allow = look.find(None, "EDGEWISE_HTTP_ALLOW", "http_allow", Hosts::default)?;
        let secrets_file = look.find(None, "EDGEWISE_SECRETS_FILE", "secrets_file", || None::<PathBuf>)?;
        let secrets_file = Setting { value: secrets_file.value.map(|file| base.join(file)), ..secrets_file };
        let send_secrets = look.find(None, "EDGEWISE_SEND_SECRETS", "send_secrets", Names::default)?;
        let retention = look.retention()?;
        let keep_events = look.keep_events()?;
        let queues = queues::read(look.written("queues")?);
        let tables = look.tables()?;
        let project = base;
        let config = Self {
            project,
            dir,
            addr,
            token,
            who,
            output,
            color,
            workers,
            http_allow,
            secrets_file,
            send_secrets,
            retention,
            keep_events,
            queues,
            tables,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let Setting { value, origin } = &self.workers;
        if !(1..=MAX_WORKERS).contains(value) {
            return Err(Problem::new(
                Kind::Invalid,
                "bad_setting",
                format!("`workers` from {origin} is {value}: expected a number from 1 to {MAX_WORKERS}"),
            ));
        }
        Ok(())
    }
}

/// What a relative data folder is relative to: where it was said. The user's own file speaks of every project.
fn anchor<'a>(dir: &Setting<PathBuf>, base: &'a Path, world: &'a World<'_>) -> &'a Path {
    match &dir.origin {
        Origin::Flag(_) | Origin::Env(_) => &world.cwd,
        Origin::File(..) | Origin::Default => base,
    }
}

/// Looks one key up, in the order of who wins.
struct Lookup<'a> {
    world: &'a World<'a>,
    files: [Option<File>; 2],
}

impl Lookup<'_> {
    fn find<T: DeserializeOwned>(
        &self,
        flag: Option<(T, &'static str)>,
        env: &'static str,
        key: &str,
        default: impl FnOnce() -> T,
    ) -> Result<Setting<T>> {
        if let Some((value, name)) = flag {
            return Ok(Setting { value, origin: Origin::Flag(name) });
        }
        if let Some(text) = (self.world.var)(env).filter(|text| !text.is_empty()) {
            return Ok(Setting { value: from_env(env, &text)?, origin: Origin::Env(env) });
        }
        let found = self.written(key)?;
        Ok(found.unwrap_or_else(|| Setting { value: default(), origin: Origin::Default }))
    }

    /// What the files say: the project's own before the user's.
    fn written<T: DeserializeOwned>(&self, key: &str) -> Result<Option<Setting<T>>> {
        for file in self.files.iter().flatten() {
            if let Some((value, line)) = file.get(key)? {
                return Ok(Some(Setting { value, origin: Origin::File(file.path.clone(), line) }));
            }
        }
        Ok(None)
    }
}

impl Lookup<'_> {
    /// A table of a file; it has no flag and no variable.
    fn retention(&self) -> Result<Setting<Option<Retention>>> {
        for file in self.files.iter().flatten() {
            if let Some((table, line)) = file.get::<retention::Table>("retention")? {
                let at = |line| Origin::File(file.path.clone(), line);
                let of = |key: &str| at(file.line_in("retention", key).unwrap_or(line));
                return Ok(Setting { value: Some(table.read(&of)?), origin: at(line) });
            }
        }
        Ok(Setting { value: None, origin: Origin::Default })
    }
}

impl Lookup<'_> {
    /// How long domain events are kept; as long as the engine would by itself if nobody says.
    fn keep_events(&self) -> Result<Setting<Option<Millis>>> {
        let Setting { value, origin } = self.find(None, "EDGEWISE_KEEP_EVENTS", "keep_events", || None::<String>)?;
        let value = value.as_deref().map(Millis::parse).transpose().map_err(|error| {
            let what = format!("`keep_events` from {origin}: {}", error.message);
            Problem::new(Kind::Invalid, "bad_setting", what)
        })?;
        Ok(Setting { value, origin })
    }

    /// The tables that hold, as they were written, each with its own line.
    fn tables(&self) -> Result<BTreeMap<String, Setting<toml::Value>>> {
        let mut tables: BTreeMap<_, _> =
            self.written("retention")?.into_iter().map(|table| ("retention".to_owned(), table)).collect();
        let Some(file) = self.files.iter().flatten().find(|file| file.has("queues")) else { return Ok(tables) };
        for (name, value) in file.get::<toml::Table>("queues")?.map(|(table, _)| table).into_iter().flatten() {
            let line = file.line_in("queues", &name).unwrap_or(1);
            tables.insert(format!("queues.{name}"), Setting { value, origin: Origin::File(file.path.clone(), line) });
        }
        Ok(tables)
    }
}

/// A variable is text; a setting that is a number reads it as one.
fn from_env<T: DeserializeOwned>(env: &str, text: &str) -> Result<T> {
    let as_text = T::deserialize(toml::Value::String(text.to_owned()));
    as_text
        .or_else(|error| {
            let number = text.parse().map(toml::Value::Integer).map_err(|_| error)?;
            T::deserialize(number)
        })
        .map_err(|error| {
            Problem::new(Kind::Invalid, "bad_setting", format!("${env} is {text:?}"))
                .why(misfit::expected(error.message()))
        })
}

/// The nearest project file, upwards from a folder.
fn nearest(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file())
}

fn user_path(world: &World<'_>) -> Option<PathBuf> {
    let set = |name| (world.var)(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let folder = folder.or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("edgewise").join("config.toml"))
}

/// The name of who is logged in, made valid: what a name cannot hold becomes `-`.
fn user_name(world: &World<'_>) -> Name {
    let user = (world.var)("USER").unwrap_or_default();
    let kept: String = user.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let kept = kept.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).trim_end_matches('-');
    let fallback = || Name::parse("someone").ok();
    Name::parse(kept).ok().or_else(fallback).unwrap_or_else(|| unreachable!("`someone` is a name"))
}

#[cfg(test)]
mod tests;
