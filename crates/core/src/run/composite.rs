//! How far a composite has come: the scopes it made, and how they ended.

use super::chain::Held;
use crate::event::Failure;
use crate::plan::Var;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A composite that has begun.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Composite {
    /// What it goes over, evaluated once; empty if it goes over nothing.
    pub items: Arc<Vec<Value>>,
    /// How many scopes it takes, as far as is known.
    pub total: u32,
    /// Where its scopes are: of a loop only the last one; of a spread that ended well in a program none; of the
    /// others all of them.
    pub chunks: Vec<Chunk>,
    /// Scopes that ended.
    pub done: u32,
    /// Scopes that ended badly.
    pub failed: u32,
    /// What a handler is dealing with.
    pub caught: Option<Box<Failure>>,
    /// What its earlier scopes had handed to the chain around it when its last one began.
    pub handed: Vec<(Var, Held)>,
}

/// Scopes made together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The number of the first scope.
    pub scope: u32,
    /// The number of its first task.
    pub task: u32,
    /// The number of its first edge.
    pub edge: u32,
    /// The place of the first among the composite's scopes.
    pub index: u32,
    /// How many scopes.
    pub count: u32,
    /// The generation in which their tasks began.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
}

fn one() -> u16 {
    1
}

fn is_one(n: &u16) -> bool {
    *n == 1
}

impl Composite {
    /// How many scopes there were so far.
    pub fn made(&self) -> u32 {
        self.chunks.last().map_or(0, |chunk| chunk.index + chunk.count)
    }

    /// The number of the scope of an index.
    pub fn scope_at(&self, index: u32) -> Option<u32> {
        let chunk = self.chunks.iter().find(|c| (c.index..c.index + c.count).contains(&index))?;
        Some(chunk.scope + (index - chunk.index))
    }

    /// The numbers of its scopes, in the order of their index.
    pub fn scopes(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(|c| c.scope..c.scope + c.count)
    }
}
