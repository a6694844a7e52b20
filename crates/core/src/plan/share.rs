//! Share: how a task shares workers and the world with others. Its queue, its priority, its limit.

use super::is_default;
use crate::expr::Expr;
use crate::name::Name;
use crate::rate::Rate;
use serde::{Deserialize, Serialize};

/// How a task takes its turn among others.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Share {
    /// Where it waits for a worker; the queue without a name if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Name>,
    /// Higher goes first.
    #[serde(skip_serializing_if = "is_default")]
    pub priority: i16,
    /// What it must not do too much of at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// A bound on attempts that have the same key, whatever run or flow they belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What is shared; it comes to a text, a number or a truth value.
    pub key: Expr,
    /// Most attempts with the key at work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// How often one with the key may begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}
