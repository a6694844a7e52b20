//! Flows beside a file: `flow: publish` means the flow `publish` of `publish.yaml`, `.yml` or `.flow` in the same folder.

use edgewise_core::flow::{Found, Resolve};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const ENDINGS: [&str; 3] = ["yaml", "yml", "flow"];

/// Finds flows in the folders of the files that name them.
pub struct Siblings<'a> {
    /// What the names of files are relative to.
    pub cwd: &'a Path,
}

impl Siblings<'_> {
    /// The folder of a file, as it is shown.
    fn folder(file: &str) -> &Path {
        Path::new(file).parent().unwrap_or(Path::new(""))
    }

    /// The files in which a flow of this name could be.
    fn candidates(name: &str, file: &str) -> Vec<PathBuf> {
        // A name has slashes and dots if its author likes, but it never leaves the folder.
        let outside = name.starts_with('/') || name.split('/').any(|part| part == "..");
        let named = |ending: &&str| Self::folder(file).join(format!("{name}.{ending}"));
        ENDINGS.iter().filter(|_| !outside).map(named).collect()
    }
}

impl Resolve for Siblings<'_> {
    fn find(&mut self, name: &str, file: &str) -> Result<Option<Found>, String> {
        let there = Self::candidates(name, file).into_iter().filter(|path| self.cwd.join(path).is_file());
        let there: Vec<PathBuf> = there.collect();
        match there.as_slice() {
            [] => Ok(None),
            [path] => {
                let shown = path.display().to_string();
                match std::fs::read_to_string(self.cwd.join(path)) {
                    Ok(text) => Ok(Some(Found::File { text, file: shown })),
                    Err(error) if error.kind() == ErrorKind::InvalidData => Err(format!("{shown} is not UTF-8")),
                    Err(error) => Err(format!("{shown} cannot be read: {error}")),
                }
            }
            [first, second, ..] => {
                let (first, second) = (first.display(), second.display());
                Err(format!("the flow `{name}` could be in {first} or in {second}: remove one of the two"))
            }
        }
    }

    fn known(&mut self, file: &str) -> Vec<String> {
        let folder = self.cwd.join(Self::folder(file));
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let flows =
            entries.filter(|path| path.extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known)));
        let mut names: Vec<String> =
            flows.filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).collect();
        names.sort();
        names
    }
}
