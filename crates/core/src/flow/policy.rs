//! Retries and timeouts: of one task, or of all of them under `defaults`. What a task says is laid over
//! what the defaults say, key by key.

use super::problem::Sink;
use super::read::{Fields, Keys, choice, duration, flag, list, some_time, text, whole, wrong};
use super::scalar::resolve;
use super::tree::{Kind, Node};
use crate::limits;
use crate::plan::Timeouts;
use crate::retry::{Backoff, Retry};
use crate::time::Millis;

pub(super) const RETRY: Keys = Keys {
    owner: "`retry`",
    known: &["max_attempts", "retryable", "backoff", "jitter", "on", "never"],
    elsewhere: &[],
};
pub(super) const BACKOFF: Keys = Keys { owner: "`backoff`", known: &["kind", "base", "factor", "cap"], elsewhere: &[] };
pub(super) const TIMEOUT: Keys =
    Keys { owner: "`timeout`", known: &["attempt", "overall", "queue", "heartbeat"], elsewhere: &[] };
pub(super) const KINDS: [(&str, Backoff); 3] =
    [("fixed", Backoff::Fixed), ("linear", Backoff::Linear), ("exponential", Backoff::Exponential)];

/// `retry: 5`, or a map.
pub(super) fn retry(node: &Node<'_>, base: &Retry, sink: &mut Sink<'_>) -> Retry {
    let mut retry = base.clone();
    if matches!(node.kind, Kind::Scalar(..)) {
        attempts(node, "`retry`", &mut retry, sink);
        return retry;
    }
    if matches!(node.kind, Kind::List(_)) {
        wrong(node, "`retry`", "a number of attempts or a map", sink);
        return retry;
    }
    let Some(fields) = Fields::read(node, "`retry`", &RETRY, sink) else { return retry };
    if let Some(node) = fields.get("max_attempts") {
        attempts(node, "`max_attempts`", &mut retry, sink);
    }
    if let Some(node) = fields.get("retryable") {
        retry.retryable = flag(node, "`retryable`", sink).unwrap_or(retry.retryable);
    }
    if let Some(entry) = fields.entry("max_attempts").filter(|_| retry.max_attempts > 1 && !retry.retryable) {
        let message = format!("`max_attempts: {}` has no effect beside `retryable: false`", retry.max_attempts);
        sink.warning(entry.at, "never_retried", message).help(Some("remove one of the two".into()));
    }
    if let Some(node) = fields.get("backoff") {
        backoff(node, &mut retry, sink);
    }
    if let Some(node) = fields.get("jitter") {
        let percent = whole(node, "`jitter` (in percent)", 0..=100, sink);
        retry.jitter_percent = percent.map_or(retry.jitter_percent, |p| p as u8);
    }
    if let Some(node) = fields.get("on") {
        retry.on = types(node, "`on`", sink);
    }
    if let Some(node) = fields.get("never") {
        retry.never = types(node, "`never`", sink);
    }
    retry
}

fn attempts(node: &Node<'_>, what: &str, retry: &mut Retry, sink: &mut Sink<'_>) {
    let most = u64::from(limits::MAX_ATTEMPTS);
    let number = match &node.kind {
        Kind::Scalar(text, style) => resolve(text, *style).ok().and_then(|v| v.as_u64()),
        _ => None,
    };
    match number {
        Some(n) if (1..=most).contains(&n) => retry.max_attempts = n as u16,
        Some(0) => {
            let message = format!("{what} counts the first attempt, so it is at least 1");
            sink.error(node.span, "bad_max_attempts", message).help(Some("write 1 for a single attempt".into()));
        }
        Some(n) => {
            sink.error(node.span, "bad_max_attempts", format!("{what} is at most {most}, not {n}"));
        }
        None => {
            wrong(node, what, &format!("a whole number from 1 to {most}"), sink);
        }
    }
}

fn backoff(node: &Node<'_>, retry: &mut Retry, sink: &mut Sink<'_>) {
    let Some(fields) = Fields::read(node, "`backoff`", &BACKOFF, sink) else { return };
    if let Some(node) = fields.get("kind") {
        retry.kind = choice(node, "`kind`", &KINDS, sink).unwrap_or(retry.kind);
    }
    if let Some(node) = fields.get("base") {
        retry.base = duration(node, "`base`", sink).unwrap_or(retry.base);
    }
    if let Some(node) = fields.get("cap") {
        retry.cap = duration(node, "`cap`", sink).unwrap_or(retry.cap);
    }
    if let Some(node) = fields.get("factor") {
        retry.factor_milli = factor(node, sink).unwrap_or(retry.factor_milli);
    }
    let at = fields.entry("cap").or_else(|| fields.entry("base"));
    if let Some(entry) = at.filter(|_| retry.base > retry.cap) {
        let message = format!("waits start at {} but are capped at {}", retry.base, retry.cap);
        sink.warning(entry.at, "cap_below_base", message).help(Some("give a larger `cap`".into()));
    }
}

fn factor(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<u32> {
    let factor = match &node.kind {
        Kind::Scalar(text, style) => resolve(text, *style).ok().and_then(|v| v.as_f64()),
        _ => None,
    };
    let factor = factor.filter(|f| (1.0..=1_000.0).contains(f));
    if factor.is_none() {
        wrong(node, "`factor`", "a number from 1 to 1000", sink);
    }
    factor.map(|f| (f * 1_000.0).round() as u32)
}

fn types(node: &Node<'_>, what: &str, sink: &mut Sink<'_>) -> Vec<String> {
    let mut types = Vec::new();
    for node in list(node, what, "a list of error types", sink).unwrap_or_default() {
        let Some(text) = text(node, "an error type", sink) else { continue };
        if text.is_empty() || text.len() > limits::NAME_BYTES || text.chars().any(char::is_control) {
            let message = format!("an error type is a word of at most {} bytes, such as `timeout`", limits::NAME_BYTES);
            sink.error(node.span, "bad_value", message);
            continue;
        }
        types.push(text.to_owned());
    }
    types
}

/// `timeout: 10m` for one attempt, or a map.
pub(super) fn timeouts(node: &Node<'_>, base: &Timeouts, sink: &mut Sink<'_>) -> Timeouts {
    let mut timeouts = *base;
    if matches!(node.kind, Kind::Scalar(..)) {
        timeouts.attempt = some_time(node, "`timeout`", sink).or(timeouts.attempt);
        return timeouts;
    }
    if matches!(node.kind, Kind::List(_)) {
        wrong(node, "`timeout`", "a duration such as `10m` or a map", sink);
        return timeouts;
    }
    let Some(fields) = Fields::read(node, "`timeout`", &TIMEOUT, sink) else { return timeouts };
    let mut read = |key: &str, slot: &mut Option<Millis>| {
        if let Some(node) = fields.get(key) {
            *slot = some_time(node, &format!("`{key}`"), sink).or(*slot);
        }
    };
    read("attempt", &mut timeouts.attempt);
    read("overall", &mut timeouts.overall);
    read("queue", &mut timeouts.queue);
    read("heartbeat", &mut timeouts.heartbeat);
    timeouts
}
