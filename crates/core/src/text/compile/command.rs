//! `@run(script="…", KEY=value)`: a command for the built-in runner, as `run:` is in YAML.
//!
//! The script is known when the program is read. Data reaches it as variables of its environment, one for each
//! further argument, so data never becomes code.

use super::body::given_as;
use super::error;
use crate::expr;
use crate::flow::problem::Sink;
use crate::plan::{Command, OutputForm};
use crate::suggest::{nearest, shown};
use crate::text::tree::{ActionCall, Extent};

/// The action that is a command.
pub(super) const NAME: &str = "run";

const FORMS: [(&str, OutputForm); 3] =
    [("text", OutputForm::Text), ("json", OutputForm::Json), ("lines", OutputForm::Lines)];

/// The command of a call whose arguments are bound; `None` if something is wrong with it, which is said.
pub(super) fn command(call: &ActionCall, arguments: Vec<expr::Expr>, sink: &mut Sink<'_>) -> Option<Command> {
    let mut command = Command::default();
    let mut script = None;
    let mut good = true;
    for ((name, written), value) in call.arguments.iter().zip(arguments) {
        match name.text.as_str() {
            "script" => match written_text(&value).filter(|text| !text.trim().is_empty() && !text.contains('\0')) {
                Some(text) => script = Some(text.to_owned()),
                None => {
                    let help = "give what is computed to a variable: `@run(script=\"echo $NAME\", NAME=name)`";
                    let message = "`script` is a text that stands here as it is, and not an empty one";
                    error(sink, written.at, "bad_script", message.into()).help(Some(help.into()));
                    good = false;
                }
            },
            "output" => match form(written_text(&value), written.at, sink) {
                Some(form) => command.output = form,
                None => good = false,
            },
            variable => command.env.push((variable.to_owned(), given_as(value))),
        }
    }
    if script.is_none() && good {
        let help = "such as `@run(script=\"make\")`";
        error(sink, call.at, "missing_argument", "`@run` is not given `script`".into()).help(Some(help.into()));
    }
    script.filter(|_| good).map(|script| Command { script, ..command })
}

fn written_text(value: &expr::Expr) -> Option<&str> {
    value.as_literal().and_then(|literal| literal.as_str())
}

fn form(word: Option<&str>, at: Extent, sink: &mut Sink<'_>) -> Option<OutputForm> {
    if let Some((_, form)) = FORMS.iter().find(|(known, _)| Some(*known) == word) {
        return Some(*form);
    }
    let near = word.and_then(|word| nearest(word, FORMS.map(|(known, _)| known)));
    let help = near.map(|near| format!("did you mean {}?", shown(near)));
    error(sink, at, "bad_value", "`output` is \"text\", \"json\" or \"lines\"".into()).help(help);
    None
}
