//! One settings file: its keys with their lines. Every key is known, or the file is refused.

use super::misfit::Text;
use super::{Problem, Result};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// The keys there are.
pub(super) const KEYS: [&str; 12] = [
    "dir",
    "addr",
    "as",
    "output",
    "color",
    "workers",
    "http_allow",
    "secrets_file",
    "keep_events",
    "send_secrets",
    "retention",
    "queues",
];

/// A file that was read.
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    text: String,
    /// The keys that it has, with their lines.
    keys: BTreeMap<String, usize>,
}

impl File {
    /// Reads a file; `None` if there is none.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Problem::file("read", path, &error)),
        }
    }

    /// Reads the text of a file.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let within = Text { path, text };
        let table = DeTable::parse(text)
            .map_err(|error| within.refuse(error.span().map_or(0, |span| span.start), error.message()))?;
        let mut keys = BTreeMap::new();
        for key in table.get_ref().keys() {
            let (name, at) = (key.get_ref().as_ref(), key.span().start);
            if !KEYS.contains(&name) {
                return Err(within.refuse(at, &format!("there is no setting `{name}`")).next(advice(name)));
            }
            keys.insert(name.to_owned(), within.line(at));
        }
        Ok(Self { path: path.to_owned(), text: text.to_owned(), keys })
    }

    /// The folder it is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// A value with its line, if the file has the key.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<(T, usize)>> {
        let (Some(line), Some(value)) = (self.keys.get(key), self.value(key)) else { return Ok(None) };
        match T::deserialize(ValueDeserializer::from(value.clone())) {
            Ok(found) => Ok(Some((found, *line))),
            Err(error) => Err(self.within().misfit(key, &value, &error)),
        }
    }

    /// Whether it says anything about a key.
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Where a key of a table stands.
    pub fn line_in(&self, table: &str, key: &str) -> Option<usize> {
        let value = self.value(table)?;
        let found = value.get_ref().as_table()?.keys().find(|known| known.get_ref() == key)?.span().start;
        Some(self.within().line(found))
    }

    /// A value with its place: read again, since the file is small and was read before.
    fn value(&self, key: &str) -> Option<Spanned<DeValue<'_>>> {
        let table = DeTable::parse(&self.text).ok()?.into_inner();
        table.into_iter().find(|(known, _)| known.get_ref() == key).map(|(_, value)| value)
    }

    fn within(&self) -> Text<'_> {
        Text { path: &self.path, text: &self.text }
    }
}

fn advice(name: &str) -> String {
    match nearest(name, &KEYS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the settings are {}", KEYS.map(|key| format!("`{key}`")).join(", ")),
    }
}

/// The name that is at most two typos away.
pub(super) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let near = names.iter().map(|other| (distance(name, other), *other)).min()?;
    (near.0 <= 2 && near.0 < near.1.len()).then_some(near.1)
}

/// How many letters must be put in, taken out or exchanged.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = exchanged.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Problem {
        File::parse(Path::new("edgewise.toml"), text).err().unwrap()
    }

    #[test]
    fn a_typo_is_answered_with_its_line_and_the_right_name() {
        let problem = refused("# settings\ndir = \"x\"\nworker = 3\n");
        assert_eq!(problem.what, "edgewise.toml:3: there is no setting `worker`");
        assert_eq!(problem.next.as_deref(), Some("did you mean `workers`?"));
        assert!(refused("colour = \"never\"").next.unwrap().contains("`color`"));
        assert!(refused("something = 1").next.unwrap().starts_with("the settings are `dir`, `addr`, `as`"));
    }

    #[test]
    fn what_is_no_toml_is_refused_with_its_line() {
        assert!(refused("dir = \"x\"\nworkers = = 3").what.starts_with("edgewise.toml:2: "));
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused_with_its_line() {
        let file = File::parse(Path::new("edgewise.toml"), "\nworkers = \"many\"").unwrap();
        let problem = file.get::<usize>("workers").unwrap_err();
        assert!(problem.what.starts_with("edgewise.toml:2: `workers` cannot be"), "{}", problem.what);
    }

    #[test]
    fn typos_are_counted() {
        for (a, b, typos) in [("", "abc", 3), ("dir", "dir", 0), ("dri", "dir", 2), ("outptu", "output", 2)] {
            assert_eq!(distance(a, b), typos, "{a} {b}");
        }
    }
}
