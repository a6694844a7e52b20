//! Templates: what a task is given, with references to inputs, earlier outputs and the spread's item.
//!
//! A template is evaluated when its task is granted, from outputs that are already facts.

mod eval;

pub use eval::Values;
pub(crate) use eval::kind;

use crate::expr::Expr;
use crate::plan::Var;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value with holes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// No hole at all.
    Value(Value),
    /// What is computed, which keeps its type.
    Expr(Expr),
    /// One reference, which keeps its type.
    Ref(Reference),
    /// Text with references in it, each printed.
    Text(Vec<Part>),
    /// A list of templates.
    List(Vec<Template>),
    /// A map of templates, in the author's order.
    Map(Vec<(String, Template)>),
}

/// A piece of a text template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// As it stands.
    Literal(String),
    /// Replaced by what it names.
    Ref(Reference),
}

/// The name of a value: where it starts, and the way into it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// Where it starts.
    pub root: Root,
    /// The way into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<Step>,
}

/// Where a reference starts. `up` counts regions outwards from the one the reference stands in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// The run's input.
    Input,
    /// The output of a node.
    Output {
        /// Regions outwards.
        #[serde(default)]
        up: u32,
        /// The node in that region.
        node: u32,
    },
    /// A variable of a program's body.
    Var(Var),
    /// The item of the spread whose scope this is.
    Item {
        /// Regions outwards.
        #[serde(default)]
        up: u32,
    },
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Step {
    /// The n-th of a list.
    At(u32),
    /// A key of a map.
    Key(String),
}

impl Default for Template {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl Template {
    /// Calls `see` with every expression in it.
    pub fn exprs(&self, see: &mut dyn FnMut(&Expr)) {
        match self {
            Template::Expr(expr) => see(expr),
            Template::List(list) => list.iter().for_each(|item| item.exprs(see)),
            Template::Map(map) => map.iter().for_each(|(_, value)| value.exprs(see)),
            Template::Value(_) | Template::Ref(_) | Template::Text(_) => {}
        }
    }
}
