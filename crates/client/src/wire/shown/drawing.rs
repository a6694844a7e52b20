//! Pictures for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A picture as a program draws it itself. Places are pixels from the upper left corner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Drawing {
    /// What is drawn.
    pub flow: String,
    /// The run, where one is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Map<String, Value>>,
    /// Which way it goes.
    pub direction: String,
    /// How wide it is.
    pub width: i32,
    /// How high.
    pub height: i32,
    /// What stands in it.
    pub nodes: Vec<Placed>,
    /// What holds some of that.
    pub groups: Vec<Placed>,
    /// What goes from where to where.
    pub edges: Vec<Joined>,
}

/// Something with a place.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Placed {
    /// Its id.
    pub id: String,
    /// What is written on it.
    pub label: String,
    /// What it is.
    pub kind: String,
    /// From the left.
    pub x: i32,
    /// From above.
    pub y: i32,
    /// How wide it is.
    pub width: i32,
    /// How high.
    pub height: i32,
    /// How it stands.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An edge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Joined {
    /// From where.
    pub from: String,
    /// To where.
    pub to: String,
    /// Which ends it takes.
    pub accepts: Vec<String>,
    /// How it goes.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
