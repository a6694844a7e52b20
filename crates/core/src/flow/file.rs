//! The one door for files: which front end reads a file, and which of its flows is meant.
//!
//! The ending decides: `.flow` is program text, `.yaml` and `.yml` are YAML. A file with another name, or from
//! a pipe, is told by how it begins, and if that says nothing either, the author is asked.

use super::compose::{Alone, Composer, Resolve};
use super::problem::Sink;
use super::source::{Source, Span};
use super::{Compiled, Problems, compile_yaml, tree};
use crate::error::{Error, Result};
use crate::suggest::{nearest, shown};
use crate::{limits, text};

/// How a flow is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A graph of tasks.
    Yaml,
    /// A program.
    Program,
}

impl Form {
    /// The form of a file, by its name or else by how it begins; `None` if neither tells.
    pub fn of(file: &str, text: &str) -> Option<Self> {
        let ending = file.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("flow") => Some(Self::Program),
            Some("yaml" | "yml") => Some(Self::Yaml),
            _ => Self::of_text(text),
        }
    }

    fn of_text(text: &str) -> Option<Self> {
        let said = |line: &&str| !line.is_empty() && !line.starts_with('#') && *line != "---";
        let first = text.lines().map(str::trim).find(said)?;
        let word = first.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(first.len());
        match (&first[..word], first[word..].chars().next()) {
            ("flow" | "fn", Some(c)) if c.is_whitespace() && first.ends_with(':') => Some(Self::Program),
            ("flow" | "fn", Some(c)) if c.is_whitespace() && first.contains('(') => Some(Self::Program),
            (word, Some(':')) if !word.is_empty() => Some(Self::Yaml),
            // No program begins with a brace, and JSON is YAML.
            ("", Some('{')) => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Compiles all flows of a file, in their order; `file` is what problems call it. There is at least one. It starts
/// no flows of other files.
pub fn compile_file(text: &str, file: &str) -> Result<Vec<Compiled>, Problems> {
    compile_file_with(text, file, &mut Alone)
}

/// The same for a file that starts flows which `resolver` finds.
pub fn compile_file_with(text: &str, file: &str, resolver: &mut dyn Resolve) -> Result<Vec<Compiled>, Problems> {
    Composer::new(resolver).file(text, file)
}

/// Whether a file can be read at all; nothing is compiled. For whoever measures readers alone.
pub fn can_be_read(text: &str, file: &str) -> bool {
    let source = Source::new(text);
    let mut sink = Sink::new(&source);
    match Form::of(file, text) {
        Some(Form::Yaml) => drop(tree::read(text, &mut sink)),
        Some(Form::Program) => drop(text::read(text, &mut sink)),
        None => return false,
    }
    !sink.has_errors()
}

pub(super) fn compile_one(text: &str, file: &str, composer: &mut Composer<'_>) -> Result<Vec<Compiled>, Problems> {
    match Form::of(file, text) {
        Some(Form::Yaml) => compile_yaml(text, file, composer).map(|one| vec![one]),
        Some(Form::Program) => text::compile_with(text, file, composer),
        None => {
            let source = Source::new(if text.len() > limits::FLOW_BYTES { "" } else { text });
            let mut sink = Sink::new(&source);
            let message = "neither the name of the file nor its beginning says how this flow is written";
            let help = "name it .yaml for a graph of tasks, or .flow for a program";
            sink.error(Span::at(1, 1, 1), "unknown_form", message).help(Some(help.into()));
            Err(sink.finish(file))
        }
    }
}

/// The flow of a file that is meant: the named one, or the only one.
pub fn choose(mut flows: Vec<Compiled>, file: &str, name: Option<&str>) -> Result<Compiled> {
    let names: Vec<&str> = flows.iter().map(|one| one.plan.flow.as_str()).collect();
    let place = match name {
        Some(name) => names.iter().position(|known| *known == name).ok_or_else(|| {
            let near = nearest(name, names.iter().copied()).map(|near| format!("did you mean {}? ", shown(near)));
            let message =
                format!("{file} has no flow {}: {}it has {}", shown(name), near.unwrap_or_default(), all(file, &names));
            Error::not_found("flow_not_found", message)
        })?,
        None if flows.len() == 1 => 0,
        None => {
            let message = format!("{file} has {} flows: say which one, {}", flows.len(), all(file, &names));
            return Err(Error::invalid("which_flow", message));
        }
    };
    Ok(flows.swap_remove(place))
}

/// `etl.flow#load or etl.flow#clean`
fn all(file: &str, names: &[&str]) -> String {
    let named: Vec<String> = names.iter().map(|name| format!("`{file}#{name}`")).collect();
    named.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "flow load():\n    pass\n\nflow clean():\n    pass\n";
    const YAML: &str = "flow: a\ntasks:\n  b: { run: 'true' }\n";

    fn check(file: &str, text: &str, form: Option<Form>) {
        assert_eq!(Form::of(file, text), form, "{file}: {text:?}");
    }

    #[test]
    fn the_ending_tells_how_a_flow_is_written() {
        check("a.flow", YAML, Some(Form::Program));
        check("dir.flow/a.YAML", TWO, Some(Form::Yaml));
        check("a.b.yml", "", Some(Form::Yaml));
    }

    #[test]
    fn without_an_ending_the_beginning_tells() {
        check("-", YAML, Some(Form::Yaml));
        check("a.txt", "# about\n\n---\nflow: a", Some(Form::Yaml));
        check("b", "{ \"flow\": \"a\" }", Some(Form::Yaml));
        check("a.flow/b", TWO, Some(Form::Program));
        check("b", "# helpers\nfn twice(\n    x):\n    return x\n", Some(Form::Program));
        check("b", "flow a:\n", Some(Form::Program));
        for text in ["", "# only words", "hello", "- a\n- b", "flow"] {
            check("b", text, None);
        }
    }

    #[test]
    fn what_nobody_can_tell_is_asked() {
        let problems = compile_file("hello", "notes.txt").unwrap_err().to_string();
        assert!(problems.contains("error[unknown_form]") && problems.contains(".flow for a program"), "{problems}");
    }

    #[test]
    fn of_several_flows_one_is_named() {
        let flows = |file: &str| compile_file(TWO, file).unwrap();
        assert_eq!(choose(flows("x.flow"), "x.flow", Some("clean")).unwrap().plan.flow.as_str(), "clean");
        let error = choose(flows("x.flow"), "x.flow", None).unwrap_err();
        assert_eq!(error.code, "which_flow");
        assert!(error.message.contains("`x.flow#load` or `x.flow#clean`"), "{error}");
        let error = choose(flows("x.flow"), "x.flow", Some("laod")).unwrap_err();
        assert!(error.message.contains("did you mean `load`?"), "{error}");
    }

    #[test]
    fn one_flow_needs_no_name_and_may_have_it() {
        let flows = || compile_file(YAML, "a.yaml").unwrap();
        assert!(choose(flows(), "a.yaml", None).is_ok());
        assert!(choose(flows(), "a.yaml", Some("a")).is_ok());
        assert_eq!(choose(flows(), "a.yaml", Some("b")).unwrap_err().code, "flow_not_found");
    }
}
