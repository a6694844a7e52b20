//! Values for expressions to name, and helpers that evaluate them.

use edgewise_core::event::Failure;
use edgewise_core::expr::{Expr, Fault, Hyphens, parse};
use edgewise_core::template::{Root, Values};
use serde_json::Value;
use std::borrow::Cow;

/// Every name is a key of one map; lent or given away, which must make no difference.
pub struct Ground {
    pub names: Value,
    pub lend: bool,
}

impl<'v> Values<'v> for &'v Ground {
    fn value(&self, _: &Root) -> Option<Cow<'v, Value>> {
        Some(if self.lend { Cow::Borrowed(&self.names) } else { Cow::Owned(self.names.clone()) })
    }

    fn written(&self, _: &Root) -> String {
        "names".into()
    }
}

/// Binds names so that each is a key of the ground: `x` becomes `names.x`.
pub fn bound(text: &str) -> Result<Expr, Vec<Fault>> {
    parse(text, Hyphens::Refused)?.bind(&mut |path, span| match path[0] {
        "names" => Ok((1, Root::Input)),
        other => Err(Fault::new(span, "unknown_reference", format!("`{other}` names nothing here"))),
    })
}

/// What an expression comes to, lent and given away, before and after it was stored.
pub fn eval(text: &str, names: &Value) -> Result<Value, Failure> {
    let expr = bound(text).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let stored = serde_json::to_string(&expr).unwrap();
    let loaded: Expr = serde_json::from_str(&stored).unwrap_or_else(|e| panic!("{text} as {stored}: {e}"));
    assert_eq!(expr, loaded, "{text}");
    let [lent, given] = [true, false].map(|lend| Ground { names: names.clone(), lend });
    let found = expr.eval(&&lent).map(Cow::into_owned);
    assert_eq!(found, expr.eval(&&given).map(Cow::into_owned), "{text}");
    assert_eq!(found, loaded.eval(&&lent).map(Cow::into_owned), "{text}");
    found
}
