//! The `http` of a task: a request for the built-in runner.

use super::holes::{Holes, OPEN};
use super::problem::Sink;
use super::read::{Fields, Keys, choice, map, text};
use super::tree::{Kind, Node};
use crate::plan::{Body, Http, Method, OWN_HEADERS, is_header};
use crate::suggest::shown;
use crate::template::Template;

pub(super) const HTTP: Keys =
    Keys { owner: "`http`", known: &["method", "url", "headers", "json", "body"], elsewhere: &[] };

/// Reads a request; `None` if it has no address.
pub(super) fn http(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Http> {
    if let Kind::Scalar(..) = &node.kind {
        let url = address(node, holes, sink)?;
        return Some(Http { url, ..Http::default() });
    }
    let fields = Fields::read(node, "`http`", &HTTP, sink)?;
    let (json, body) = (fields.entry("json"), fields.entry("body"));
    holes.place.secrets = true;
    if let (Some(_), Some(body)) = (json, body) {
        let message = "a request has `json` or `body`, not both";
        sink.error(body.at, "misplaced_key", message).help(Some("remove one of the two".into()));
    }
    let body = match (json, body) {
        (Some(json), _) => Some(Body::Json(holes.template(&json.value, sink))),
        (None, Some(body)) => Some(Body::Text(holes.words(&body.value, &|| "`body`".into(), sink))),
        (None, None) => None,
    };
    let method = fields.get("method").and_then(|n| choice(n, "`method`", &Method::ALL, sink));
    let method = method.unwrap_or(if body.is_some() { Method::Post } else { Method::Get });
    if let Some(entry) = json.or(fields.entry("body")).filter(|_| matches!(method, Method::Get | Method::Head)) {
        let message = format!("a {} has no body", method.as_str());
        sink.error(entry.at, "misplaced_key", message).help(Some("use `method: POST`, or put it into the URL".into()));
    }
    let headers = fields.get("headers").map(|n| headers(n, holes, sink)).unwrap_or_default();
    // An address is shown in errors and in other people's logs.
    holes.place.secrets = false;
    let Some(url) = fields.get("url") else {
        sink.error(node.span, "missing_key", "`http` has no `url`").help(Some("say where the request goes".into()));
        return None;
    };
    Some(Http { method, url: address(url, holes, sink)?, headers, body })
}

/// The address: what is known of it beforehand is checked beforehand.
fn address(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Template> {
    let written = text(node, "`url`", sink)?;
    let known = written.split(OPEN).next().unwrap_or_default();
    let scheme = known.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if scheme.as_deref().is_some_and(|s| s != "http" && s != "https") || (scheme.is_none() && known == written) {
        let message = format!("{} is no address of a web server", shown(written));
        sink.error(node.span, "bad_url", message).help(Some("an address begins with `https://` or `http://`".into()));
        return None;
    }
    Some(holes.words(node, &|| "`url`".into(), sink))
}

fn headers(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Template {
    let mut headers = Vec::new();
    for entry in map(node, "`headers`", sink).unwrap_or_default() {
        let name = &*entry.key;
        if !is_header(name) {
            let message = format!("{} cannot be the name of a header", shown(name));
            sink.error(entry.at, "bad_name", message).help(Some("use letters, digits and `-`".into()));
        } else if OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            sink.error(entry.at, "reserved_name", format!("the header `{name}` is set by the runner"));
        }
        headers.push((name.to_owned(), holes.words(&entry.value, &|| format!("the header {}", shown(name)), sink)));
    }
    Template::Map(headers)
}

#[cfg(test)]
mod tests {
    use crate::plan::{Body, Http, Method, Work};
    use crate::template::Template;

    fn read(http: &str) -> Result<Http, Vec<String>> {
        let flow = format!("flow: f\ninputs: {{ v: {{ type: string }} }}\ntasks:\n  a:\n    http: {http}\n");
        match crate::flow::compile(&flow, "f.yaml") {
            Ok(compiled) => match &compiled.plan.specs[0].work {
                Work::Http(http) => Ok(http.clone()),
                other => panic!("{other:?}"),
            },
            Err(problems) => Err(problems.list.iter().map(|p| p.code.to_owned()).collect()),
        }
    }

    #[test]
    fn a_request_says_what_is_sent_where() {
        let http = read("https://example.org/a").unwrap();
        assert_eq!((http.method, http.url.shown().as_str()), (Method::Get, "https://example.org/a"));
        let http = read("{ url: 'https://example.org/${{ inputs.v }}', json: { v: '${{ inputs.v }}' } }").unwrap();
        assert_eq!(http.method, Method::Post, "what has a body is handed over");
        assert!(matches!(http.body, Some(Body::Json(_))));
        let http = read("{ method: PUT, url: 'http://a.b', body: x, headers: { X-A: '1', X-B: '${{ inputs.v }}' } }");
        assert!(matches!(http.unwrap().headers, Template::Map(headers) if headers.len() == 2));
    }

    #[test]
    fn what_cannot_be_sent_is_refused_where_it_stands() {
        for (http, code) in [
            ("{ json: 1 }", "missing_key"),
            ("ftp://example.org", "bad_url"),
            ("example.org", "bad_url"),
            ("{ url: 'https://a.b', json: 1, body: x }", "misplaced_key"),
            ("{ url: 'https://a.b', method: GET, json: 1 }", "misplaced_key"),
            ("{ url: 'https://a.b', method: TEACH }", "bad_value"),
            ("{ url: 'https://a.b', headers: { 'a b': x } }", "bad_name"),
            ("{ url: 'https://a.b', headers: { Content-Length: '3' } }", "reserved_name"),
            ("{ url: 'https://a.b', heders: {} }", "unknown_key"),
        ] {
            let codes = read(http).unwrap_err();
            assert!(codes.iter().any(|c| c == code), "{http}: {codes:?}");
        }
    }
}
