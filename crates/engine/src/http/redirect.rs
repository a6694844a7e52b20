//! Redirects: followed a few times, looked at each time, and never with what was meant for somebody else.

use edgewise_core::event::Failure;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};

/// Most redirects of one attempt.
pub(super) const HOPS: usize = 5;

/// One request on the way to the response.
#[derive(Clone)]
pub(super) struct Hop {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Option<String>,
}

/// Where a response sends us, if it does.
pub(super) fn next(hop: &Hop, response: &Response) -> Result<Option<Hop>, Failure> {
    let status = response.status();
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let moved = matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND | StatusCode::SEE_OTHER);
    let Some(to) = response.headers().get(LOCATION).filter(|_| keeps || moved) else { return Ok(None) };
    let bad = |why: &str| Failure::permanent("bad_redirect", format!("{} redirects {why}", hop.url));
    let url = to.to_str().ok().and_then(|to| hop.url.join(to).ok()).ok_or_else(|| bad("to no address"))?;
    if hop.url.scheme() == "https" && url.scheme() != "https" {
        return Err(bad("from https to http, where others could read it"));
    }
    let mut next = Hop { url, ..hop.clone() };
    if moved && !matches!(hop.method, Method::GET | Method::HEAD) {
        next.method = Method::GET;
        next.body = None;
        next.headers.remove(CONTENT_TYPE);
    }
    if next.url.origin() != hop.url.origin() {
        // Headers may be secrets for the first host; the other gets only what describes the request itself.
        let kept = [reqwest::header::ACCEPT, CONTENT_TYPE];
        let own: Vec<_> =
            kept.iter().filter_map(|name| Some((name.clone(), next.headers.get(name)?.clone()))).collect();
        next.headers = own.into_iter().collect();
    }
    Ok(Some(next))
}
