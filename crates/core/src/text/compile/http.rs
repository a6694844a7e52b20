//! `@http(url=…, json=…)`: a request for the built-in runner, as `http:` is in YAML.

use super::body::given_as;
use super::error;
use crate::expr;
use crate::flow::problem::Sink;
use crate::plan::{Body, Http, Method};
use crate::suggest::{nearest, shown};
use crate::text::tree::{ActionCall, Extent};

/// The action that is a request.
pub(super) const NAME: &str = "http";

const ARGUMENTS: [&str; 5] = ["method", "url", "headers", "json", "body"];

/// The request of a call whose arguments are bound; `None` if something is wrong with it, which is said.
pub(super) fn http(call: &ActionCall, arguments: Vec<expr::Expr>, sink: &mut Sink<'_>) -> Option<Http> {
    let (mut http, mut method, mut url, mut good) = (Http::default(), None, None, true);
    for ((name, written), value) in call.arguments.iter().zip(arguments) {
        match name.text.as_str() {
            "method" => {
                method = method_of(&value, written.at, sink);
                good &= method.is_some();
            }
            "url" => url = Some(given_as(value)),
            "headers" => http.headers = given_as(value),
            "json" | "body" if http.body.is_some() => {
                let message = "a request has `json` or `body`, not both";
                error(sink, written.at, "misplaced_key", message.into());
                good = false;
            }
            "json" => http.body = Some(Body::Json(given_as(value))),
            "body" => http.body = Some(Body::Text(given_as(value))),
            other => {
                let help = nearest(other, ARGUMENTS).map(|near| format!("did you mean {}?", shown(near)));
                let message = format!("`@http` has no argument {}", shown(other));
                let help = help.or(Some("it has `method`, `url`, `headers`, `json` and `body`".into()));
                error(sink, written.at, "unknown_key", message).help(help);
                good = false;
            }
        }
    }
    http.method = method.unwrap_or(if http.body.is_some() { Method::Post } else { Method::Get });
    if http.body.is_some() && matches!(http.method, Method::Get | Method::Head) {
        error(sink, call.at, "misplaced_key", format!("a {} has no body", http.method.as_str()));
        good = false;
    }
    if url.is_none() && good {
        let help = "such as `@http(url=\"https://example.org\")`";
        error(sink, call.at, "missing_argument", "`@http` is not given `url`".into()).help(Some(help.into()));
    }
    url.filter(|_| good).map(|url| Http { url, ..http })
}

fn method_of(value: &expr::Expr, at: Extent, sink: &mut Sink<'_>) -> Option<Method> {
    let word = value.as_literal().and_then(|literal| literal.as_str());
    let known = Method::ALL.iter().find(|(known, _)| Some(*known) == word).map(|(_, method)| *method);
    if known.is_none() {
        let words = Method::ALL.map(|(word, _)| format!("\"{word}\""));
        error(sink, at, "bad_value", format!("`method` is one of {}", words.join(", ")));
    }
    known
}
