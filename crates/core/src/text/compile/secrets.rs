//! Secrets of a program: `flow deploy() [secrets: ["TOKEN"]]:` declares them, `secrets.TOKEN` names one where only
//! whoever does the work sees it: in the arguments of an action.

use super::{emit, error, http, item, known_beforehand};
use crate::expr::{self, Fault, Span};
use crate::flow::declare::is_secret;
use crate::flow::problem::Sink;
use crate::name::Name;
use crate::suggest::shown;
use crate::template::Root;
use crate::text::tree::{Expr, Extent};
use serde_json::Value;
use std::collections::BTreeSet;

/// What secrets are called by; a variable of that name hides them.
pub(super) const ROOT: &str = "secrets";

/// The secrets that a flow declares: a list of names that is known beforehand.
pub(super) fn declared(given: Option<&Expr>, sink: &mut Sink<'_>) -> BTreeSet<Name> {
    let mut names = BTreeSet::new();
    let Some(given) = given else { return names };
    let Some(bound) = known_beforehand(given, "write their names: `secrets: [\"TOKEN\"]`", sink) else { return names };
    let Some(Ok(Value::Array(list))) = bound.constant() else {
        let help = "such as `secrets: [\"TOKEN\"]`";
        error(sink, given.at, "bad_value", "`secrets` is a list of names".into()).help(Some(help.into()));
        return names;
    };
    for value in list {
        let name = value.as_str().filter(|text| is_secret(text)).and_then(|text| Name::parse(text).ok());
        let Some(name) = name else {
            let message = format!("{} cannot be the name of a secret", shown(&value.to_string()));
            error(sink, given.at, "bad_name", message).help(Some("use letters, digits and `_`".into()));
            continue;
        };
        let message = format!("the secret `{name}` is declared twice");
        if !names.insert(name) {
            error(sink, given.at, "duplicate_name", message);
        }
    }
    names
}

/// Whether an argument of an action is seen by nobody but whoever does the work.
pub(super) fn may_stand(action: &str, argument: &str) -> bool {
    match action {
        // What is told to the outside world is kept, as an item is.
        item::NAME | emit::NAME => false,
        http::NAME => !matches!(argument, "url" | "method"),
        _ => true,
    }
}

/// The secret that a path names. Of a function that no flow calls nobody knows which there are.
pub(super) fn named(
    (path, span): (&[&str], Span),
    sealed: bool,
    known: Option<&BTreeSet<Name>>,
    sink: &mut Sink<'_>,
) -> Result<(usize, Root), Fault> {
    if !sealed {
        let help = "name it in an argument of an action, of `@run`, or in the `headers`, `json` or `body` of `@http`";
        let message = "a secret cannot be named here, because what stands here is kept";
        return Err(Fault::new(span, "bad_reference", message).help(help));
    }
    let Some(name) = path.get(1) else {
        return Err(Fault::new(span, "bad_reference", "which secret is meant?").help("name it: `secrets.NAME`"));
    };
    let word = Name::parse(name).ok().filter(|word| known.is_none_or(|known| known.contains(word)));
    word.map(|word| (2, Root::Secret(word))).ok_or_else(|| {
        let all = known.into_iter().flatten().map(Name::as_str);
        let help =
            sink.meant(name, all).unwrap_or_else(|| format!("declare it behind the flow: `[secrets: [\"{name}\"]]`"));
        Fault::new(span, "unknown_secret", format!("there is no secret {}", shown(name))).help(help)
    })
}

/// Refuses to compute anything from a secret: it would be computed from what stands in its place.
pub(super) fn handed_over(bound: &expr::Expr, at: Extent, sink: &mut Sink<'_>) -> bool {
    let good = bound.hands_over(&|root| matches!(root, Root::Secret(_)));
    if !good {
        let message = "a secret is handed over as it is: nothing can be computed from it";
        let help = "let it stand alone, in a list or a map, or join it to texts with `+`";
        error(sink, at, "secret_computed", message.into()).help(Some(help.into()));
    }
    good
}
