//! How an expression is stored: its canonical text, and what its names stand for. It is parsed again when it
//! is loaded, so damage is an error and never becomes behaviour.

use super::{Ast, Expr, Fault, Hyphens, parser};
use crate::suggest::shown;
use crate::template::Root;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    expr: String,
    #[serde(default)]
    names: Vec<(String, Root)>,
}

/// The same, on its way out.
#[derive(Serialize)]
struct Written<'a> {
    expr: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    names: &'a [(String, Root)],
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        Written { expr: &self.0.text, names: &self.0.roots }.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let Wire { expr, names } = Wire::deserialize(d)?;
        load(&expr, &names).map_err(D::Error::custom)
    }
}

fn load(text: &str, names: &[(String, Root)]) -> Result<Expr, String> {
    let damaged = |why: &str| format!("the stored expression {} is damaged: {why}", shown(text));
    let tree = parser::stored(text).map_err(|faults| damaged(&faults[0].message))?;
    let ast = Ast::of(tree, Hyphens::InNames);
    let bound = ast.resolve(&mut |chain| {
        let find = |count: usize| names.iter().find(|(text, _)| *text == chain.written(count, Hyphens::InNames));
        let found =
            (1..=chain.segments.len()).rev().find_map(|count| find(count).map(|(_, root)| (count, root.clone())));
        found.ok_or_else(|| Fault::new(chain.span, "bad_plan", "one of its names means nothing"))
    });
    let expr = bound.map_err(|faults| damaged(&faults[0].message))?;
    // Otherwise it would be stored differently the next time, and its plan would have another hash.
    if expr.text() != text || expr.0.roots != names {
        return Err(damaged("it is not written as it would be stored"));
    }
    Ok(expr)
}
