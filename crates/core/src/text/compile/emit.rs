//! `@emit(name="order.shipped", payload=…)`: a domain event, as `emit:` is in YAML.

use super::body::given_as;
use super::error;
use crate::expr;
use crate::flow::problem::Sink;
use crate::name::Name;
use crate::plan::{Delivery, Emit};
use crate::suggest::{nearest, shown};
use crate::template::Template;
use crate::text::tree::ActionCall;

/// The action that tells the outside world something.
pub(super) const NAME: &str = "emit";

const ARGUMENTS: [&str; 3] = ["name", "delivery", "payload"];

/// What a call tells whose arguments are bound; `None` if something is wrong with it, which is said.
pub(super) fn emit(call: &ActionCall, arguments: Vec<expr::Expr>, sink: &mut Sink<'_>) -> Option<Emit> {
    let (mut name, mut delivery, mut payload, mut good) = (None, Delivery::default(), Template::default(), true);
    for ((argument, written), value) in call.arguments.iter().zip(arguments) {
        let word = value.as_literal().and_then(|literal| literal.as_str());
        match argument.text.as_str() {
            "name" => match word.map(Name::parse) {
                Some(Ok(known)) => name = Some(known),
                Some(Err(wrong)) => {
                    error(sink, written.at, wrong.code, wrong.message);
                    good = false;
                }
                None => {
                    error(sink, written.at, "bad_value", "`name` is a text that is known beforehand".into());
                    good = false;
                }
            },
            "delivery" => match Delivery::ALL.iter().find(|(known, _)| Some(*known) == word) {
                Some((_, known)) => delivery = *known,
                None => {
                    let words = Delivery::ALL.map(|(word, _)| format!("\"{word}\""));
                    error(sink, written.at, "bad_value", format!("`delivery` is one of {}", words.join(", ")));
                    good = false;
                }
            },
            "payload" => payload = given_as(value),
            other => {
                let help = nearest(other, ARGUMENTS).map(|near| format!("did you mean {}?", shown(near)));
                let help = help.or(Some("it has `name`, `delivery` and `payload`".into()));
                error(sink, written.at, "unknown_key", format!("`@emit` has no argument {}", shown(other))).help(help);
                good = false;
            }
        }
    }
    if name.is_none() && good {
        let help = "such as `@emit(name=\"order.shipped\")`";
        error(sink, call.at, "missing_argument", "`@emit` is not given `name`".into()).help(Some(help.into()));
    }
    name.filter(|_| good).map(|name| Emit { name, delivery, payload })
}
