//! A script: the statements of a chain region, one after the other.
//!
//! A region is a graph unless it has a script. In a chain each statement waits for the one before it, so
//! exactly one of them is at work in a scope, and no edge is needed to say so. What a statement computes
//! by itself costs no row and no commit; what waits for somebody is a node of the region, started here.

use crate::expr::Expr;
use serde::{Deserialize, Serialize};

/// The number of a variable in its function or flow body.
pub type Var = u32;

/// One statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statement {
    /// Starts a node of the region and waits until it is done.
    Do {
        /// The node; each is started by one statement.
        node: u32,
        /// What its output is called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        to: Vec<Var>,
    },
    /// Computes a value.
    Let {
        /// What it is called; several names take a list apart; none looks only whether it can be computed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        to: Vec<Var>,
        /// The value.
        value: Expr,
    },
    /// Ends the flow or function with a value.
    Return(Expr),
    /// Ends the loop.
    Break,
    /// Goes on with the loop's next iteration.
    Continue,
    /// Fails.
    Raise {
        /// The type of the failure.
        kind: String,
        /// Its message; what is no text is printed.
        message: Expr,
    },
    /// Fails with what is being handled.
    RaiseAgain,
}

impl Statement {
    /// The node it starts, if it starts one.
    pub fn node(&self) -> Option<u32> {
        match self {
            Self::Do { node, .. } => Some(*node),
            _ => None,
        }
    }

    /// The expression it evaluates, if it does.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Let { value, .. } | Self::Return(value) => Some(value),
            Self::Raise { message, .. } => Some(message),
            Self::Do { .. } | Self::Break | Self::Continue | Self::RaiseAgain => None,
        }
    }
}
