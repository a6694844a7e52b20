//! `queue`, `priority` and `limit`: how a task takes its turn among others.

use super::holes::{Holes, OPEN};
use super::problem::Sink;
use super::read::{Fields, Keys, name, text, whole, wrong};
use super::scalar::resolve;
use super::tree::{Kind, Node};
use crate::expr::Expr;
use crate::limits;
use crate::plan::{Limit, Share};
use crate::rate::Rate;
use crate::suggest::shown;
use serde_json::Value;

pub(super) const LIMIT: Keys = Keys { owner: "`limit`", known: &["key", "max", "rate"], elsewhere: &[] };

/// What a task, or all of them, say about it; laid over what holds otherwise.
pub(super) fn share(fields: &Fields<'_, '_>, base: &Share, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Share {
    let mut share = base.clone();
    if let Some(node) = fields.get("queue") {
        share.queue = name(node, "`queue`", sink);
    }
    if let Some(node) = fields.get("priority") {
        share.priority = priority(node, sink).unwrap_or_default();
    }
    if let Some(node) = fields.get("limit") {
        share.limit = limit(node, holes, sink);
    }
    share
}

fn priority(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<i16> {
    let number = match &node.kind {
        Kind::Scalar(text, style) => resolve(text, *style).ok().and_then(|v| v.as_i64()),
        _ => None,
    };
    let within = number.and_then(|n| i16::try_from(n).ok()).filter(|n| limits::PRIORITY.contains(n));
    if within.is_none() {
        let (low, high) = (limits::PRIORITY.start(), limits::PRIORITY.end());
        let expected = format!("a whole number from {low} to {high}");
        wrong(node, "`priority`", &expected, sink).help(Some("higher goes first; 0 if absent".into()));
    }
    within
}

fn limit(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Limit> {
    const EXAMPLE: &str = "such as `limit: { key: '\"registry\"', max: 4 }`";
    if !matches!(node.kind, Kind::Map(_)) {
        wrong(node, "`limit`", "a map", sink).help(Some(EXAMPLE.into()));
        return None;
    }
    let fields = Fields::read(node, "`limit`", &LIMIT, sink)?;
    let max = fields.get("max").and_then(|n| whole(n, "`max`", 1..=limits::SLOTS.into(), sink)).map(|max| max as u32);
    let rate = fields.get("rate").and_then(|n| rate(n, sink));
    if fields.entry("max").or(fields.entry("rate")).is_none() {
        let message = "`limit` says neither how many at once (`max`) nor how often (`rate`)";
        sink.error(node.span, "empty_limit", message).help(Some(EXAMPLE.into()));
    }
    let Some(key_node) = fields.get("key") else {
        let message = "`limit` needs a `key`: what is shared by all that are limited together";
        sink.error(node.span, "missing_key", message).help(Some(EXAMPLE.into()));
        return None;
    };
    let key = key(key_node, holes, sink)?;
    // What is wrong with a limit was said: it is not to be found wrong once more.
    (max.is_some() || rate.is_some()).then_some(Limit { key, max, rate })
}

fn rate(node: &Node<'_>, sink: &mut Sink<'_>) -> Option<Rate> {
    let read = Rate::parse(text(node, "`rate`", sink)?);
    sink.accept(read, node.span)
}

/// A bare expression; one that is known beforehand must come to something that can be counted by.
fn key(node: &Node<'_>, holes: &mut Holes<'_, '_>, sink: &mut Sink<'_>) -> Option<Expr> {
    let Kind::Scalar(text, style) = &node.kind else {
        wrong(node, "`key`", "an expression such as `inputs.customer`", sink);
        return None;
    };
    if text.trim_start().starts_with(OPEN) {
        let bare = text.trim().trim_start_matches(OPEN).trim_end_matches("}}").trim();
        let message = "`key` takes an expression without `${{ }}`";
        sink.error(node.span, "bad_template", message).help(Some(format!("write {}", shown(bare))));
        return None;
    }
    if resolve(text, *style) == Ok(Value::Null) {
        wrong(node, "`key`", "an expression such as `inputs.customer`", sink);
        return None;
    }
    let expr = holes.bare(node, text, sink)?;
    match expr.constant() {
        Some(Ok(Value::Null | Value::Array(_) | Value::Object(_))) => {
            let message = format!("`key` expects a text or a number, but {} is none", shown(expr.text()));
            sink.error(node.span, "wrong_type", message);
            None
        }
        _ => Some(expr),
    }
}
