//! The files of the project as a map from path to text, so that rules can be tested on trees that never existed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// What is not ours or not source.
const PASSED_OVER: [&str; 5] = [".git", "target", ".edgewise", "node_modules", "vendor"];

/// Paths from the root with `/` between their parts, and what is in them. Folders end with `/`.
#[derive(Debug, Default)]
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    /// Reads everything below a folder.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if PASSED_OVER.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                self.0.insert(format!("{path}/"), String::new());
                self.walk(&entry.path(), &format!("{path}/"))?;
            } else {
                let text = fs::read(entry.path()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                self.0.insert(path, text.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// The text of one file.
    pub fn file(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Whether there is a file or a folder of this name.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.0.contains_key(path) || self.0.range(folder.clone()..).next().is_some_and(|(p, _)| p.starts_with(&folder))
    }

    /// The files whose path ends so, in order.
    pub fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter(move |(path, _)| path.ends_with(end)).map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust files, in order.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ending(".rs")
    }

    /// A tree that never was on a disk.
    #[cfg(test)]
    pub fn fake(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_when_something_is_in_it() {
        let tree = Tree::fake(&[("crates/core/src/lib.rs", "")]);
        assert!(tree.has("crates/core") && tree.has("crates/core/") && tree.has("crates/core/src/lib.rs"));
        assert!(!tree.has("crates/cor") && !tree.has("crates/store"));
    }

    #[test]
    fn this_very_file_is_read_from_the_disk() {
        let tree = Tree::read(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(tree.file("src/tree.rs").is_some_and(|text| text.contains("this_very_file")));
        assert!(tree.has("src/tidy/"));
    }
}
