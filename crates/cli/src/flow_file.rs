//! A flow as it is typed: a file, and which of its flows is meant if it has several: `etl.flow#load`. `-` is stdin.

use crate::problem::{Problem, Result};
use crate::siblings::Siblings;
use edgewise_core::Kind;
use edgewise_core::flow::{Compiled, Problems, choose, compile_file_with};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The endings of case files, which stand beside flows.
pub const CASES: [&str; 2] = [".test.yaml", ".test.yml"];

/// What is typed for standard input, and what it is called.
const STDIN: (&str, &str) = ("-", "<stdin>");

/// The file of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFile {
    /// As it was typed, without the flow's name.
    pub shown: String,
    /// Where it is.
    pub path: PathBuf,
    /// Which of its flows is meant.
    pub flow: Option<String>,
    /// What its name is relative to, and the names of files beside it.
    pub cwd: PathBuf,
}

impl FlowFile {
    /// What was typed. A file that is really called so, with its `#`, is that file.
    pub fn typed(typed: &Path, cwd: &Path) -> Self {
        let (whole, path) = (typed.display().to_string(), cwd.join(typed));
        let here = cwd.to_owned();
        // With a name behind it, a `-` would be taken for an option: so that is typed as it is shown.
        let flow = whole.strip_prefix(STDIN.1).and_then(|rest| rest.strip_prefix('#')).filter(|flow| !flow.is_empty());
        if whole == STDIN.0 || flow.is_some() {
            let flow = flow.map(str::to_owned);
            return Self { shown: STDIN.1.into(), path: STDIN.0.into(), flow, cwd: here };
        }
        match whole.rsplit_once('#').filter(|(file, flow)| !file.is_empty() && !flow.is_empty() && !path.exists()) {
            Some((file, flow)) => Self { shown: file.into(), path: cwd.join(file), flow: Some(flow.into()), cwd: here },
            None => Self { shown: whole, path, flow: None, cwd: here },
        }
    }

    /// The text of the file.
    pub fn text(&self) -> Result<String> {
        // Every other path stands in a folder.
        let piped = self.path == Path::new(STDIN.0);
        let mut bytes = Vec::new();
        let read =
            if piped { std::io::stdin().read_to_end(&mut bytes).map(|_| bytes) } else { std::fs::read(&self.path) };
        let bytes = read.map_err(|error| {
            let problem = Problem::file("read", Path::new(&self.shown), &error);
            let missing = error.kind() == ErrorKind::NotFound;
            if missing { problem.next("check the path of the flow") } else { problem }
        })?;
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Problem::new(Kind::Invalid, "not_utf8", format!("{} is not UTF-8 from byte {at} on", self.shown))
                .next("save it as UTF-8")
        })
    }

    /// The flow that is meant, compiled; `not` says what cannot be done with one that has errors.
    pub fn one(&self, not: &str) -> Result<Compiled> {
        let flows = self.all()?.map_err(|problems| {
            let what = format!("{} {not}", self.shown);
            Problem::new(Kind::Invalid, "invalid_flow", what).why(problems.to_string().trim_end())
        })?;
        Ok(choose(flows, &self.shown, self.flow.as_deref())?)
    }

    /// All flows of the file, or the one that is meant.
    pub fn all(&self) -> Result<std::result::Result<Vec<Compiled>, Problems>> {
        if CASES.iter().any(|ending| self.shown.ends_with(ending)) {
            let what = format!("{} holds the cases of a flow, not a flow", self.shown);
            let next = format!("`edgewise test {}` reads and performs them", crate::text::quoted(&self.shown));
            return Err(Problem::new(Kind::Invalid, "case_file", what).next(next));
        }
        match compile_file_with(&self.text()?, &self.shown, &mut Siblings { cwd: &self.cwd }) {
            Ok(flows) if self.flow.is_some() => Ok(Ok(vec![choose(flows, &self.shown, self.flow.as_deref())?])),
            compiled => Ok(compiled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_flow_stands_behind_its_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("odd#one.yaml"), "").unwrap();
        for (typed, shown, flow) in [
            ("a.flow", "a.flow", None),
            ("a.flow#load", "a.flow", Some("load")),
            ("b/a.flow#load", "b/a.flow", Some("load")),
            ("odd#one.yaml", "odd#one.yaml", None),
            ("odd#one.yaml#x", "odd#one.yaml", Some("x")),
            ("#x", "#x", None),
            ("a.flow#", "a.flow#", None),
            ("-", "<stdin>", None),
            ("<stdin>#load", "<stdin>", Some("load")),
            ("./-", "./-", None),
            ("-a#load", "-a", Some("load")),
        ] {
            let file = FlowFile::typed(Path::new(typed), folder.path());
            assert_eq!((file.shown.as_str(), file.flow.as_deref()), (shown, flow), "{typed}");
        }
    }
}
