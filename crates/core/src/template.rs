//! Templates: what a task is given, with expressions over inputs, earlier outputs and the spread's item.
//!
//! A template is evaluated when its task is granted, from outputs that are already facts.

mod eval;

pub use eval::Values;
pub(crate) use eval::{kind, list_of};

use crate::expr::Expr;
use crate::name::Name;
use crate::plan::Var;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value with holes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// No hole at all.
    Value(Value),
    /// One expression, whose value keeps its type.
    Expr(Expr),
    /// Text with expressions in it, each printed.
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
    /// Replaced by what it comes to.
    Expr(Expr),
}

/// Where the names of an expression start. `up` counts regions outwards from the one the expression stands in.
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
    /// A secret, by its name. Only whoever does the work knows its value.
    Secret(Name),
    /// The item of the spread whose scope this is.
    Item {
        /// Regions outwards.
        #[serde(default)]
        up: u32,
    },
}

impl Default for Template {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl Template {
    /// As it is written, holes and all; for people.
    pub fn shown(&self) -> String {
        match self {
            Self::Value(Value::String(text)) => text.clone(),
            Self::Value(value) => value.to_string(),
            Self::Expr(expr) => format!("${{{{ {} }}}}", expr.text()),
            Self::Text(parts) => {
                let part = |part: &Part| match part {
                    Part::Literal(text) => text.clone(),
                    Part::Expr(expr) => format!("${{{{ {} }}}}", expr.text()),
                };
                parts.iter().map(part).collect()
            }
            Self::List(_) => "[…]".into(),
            Self::Map(_) => "{…}".into(),
        }
    }

    /// How many levels of JSON its stored form has at most.
    pub(crate) fn levels(&self) -> usize {
        match self {
            Self::Value(value) => 1 + levels(value),
            Self::Expr(_) => 6,
            Self::Text(_) => 8,
            Self::List(list) => 2 + list.iter().map(Self::levels).max().unwrap_or_default(),
            Self::Map(map) => 3 + map.iter().map(|(_, t)| t.levels()).max().unwrap_or_default(),
        }
    }

    /// Calls `see` with every expression in the template.
    pub fn expressions(&self, see: &mut dyn FnMut(&Expr)) {
        match self {
            Self::Value(_) => {}
            Self::Expr(expr) => see(expr),
            Self::Text(parts) => {
                for part in parts {
                    if let Part::Expr(expr) = part {
                        see(expr);
                    }
                }
            }
            Self::List(list) => list.iter().for_each(|t| t.expressions(see)),
            Self::Map(map) => map.iter().for_each(|(_, t)| t.expressions(see)),
        }
    }
}

/// How deep a value is nested.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(levels).max().unwrap_or_default(),
        Value::Object(map) => 1 + map.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}
