//! Filling the holes: a template and the values it names become one value.
//!
//! What needs no copy is not copied: a template without references, and one that is a single reference
//! into a value that is already there, are borrowed. What is copied is bounded, because a short flow
//! could name a large output a thousand times.

use super::{Part, Reference, Root, Step, Template};
use crate::event::Failure;
use crate::limits;
use crate::plan::{Items, Plan};
use crate::suggest::shown;
use serde_json::Value;
use std::borrow::Cow;

/// Where references find their values.
pub trait Values<'v> {
    /// The value a reference starts from; `None` if there is none, as for a task that never ran.
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>>;

    /// The start of a reference as the author writes it, for messages; see [`Plan::written`].
    fn written(&self, root: &Root) -> String;
}

impl Template {
    /// The value of this template. A reference that leads nowhere is a failure of type `bad_input`.
    pub fn eval<'v>(&'v self, values: &dyn Values<'v>) -> Result<Cow<'v, Value>, Failure> {
        Filler { values, left: limits::INPUT_BYTES }.fill(self)
    }
}

impl Items {
    /// The items of a spread; what is not a list is a failure of type `bad_input`.
    pub fn eval<'v>(&'v self, values: &dyn Values<'v>) -> Result<Cow<'v, [Value]>, Failure> {
        let reference = match self {
            Items::Literal(list) => return Ok(Cow::Borrowed(list)),
            Items::Ref(reference) => reference,
            Items::Expr(_) => return Ok(Cow::Owned(Vec::new())),
        };
        let list = match follow(reference, values)? {
            Cow::Borrowed(Value::Array(list)) => Cow::Borrowed(list.as_slice()),
            Cow::Owned(Value::Array(list)) => Cow::Owned(list),
            other => {
                let written = reference.written(values);
                return Err(bad_input(format!("`each` needs a list, but `{written}` is {}", kind(&other))));
            }
        };
        if list.len() > limits::SPREAD_ITEMS {
            let (written, most) = (reference.written(values), limits::SPREAD_ITEMS);
            return Err(bad_input(format!("`{written}` has {} items, at most {most} can be spread", list.len())));
        }
        Ok(list)
    }
}

impl Plan {
    /// The start of a reference as the author writes it. `regions` are those the reference stands in, from
    /// the innermost outwards.
    pub fn written(&self, regions: &[u32], root: &Root) -> String {
        match root {
            Root::Input => "inputs".into(),
            Root::Item { .. } => "item".into(),
            Root::Var(var) => format!("variable {var}"),
            Root::Output { up, node } => {
                let region = regions.get(*up as usize).and_then(|r| self.regions.get(*r as usize));
                let name = region.filter(|r| *node < r.len()).map_or("?", |r| r.name(*node));
                let mut text = String::from("tasks");
                push_key(&mut text, name);
                text + ".output"
            }
        }
    }
}

struct Filler<'f, 'v> {
    values: &'f dyn Values<'v>,
    /// How many bytes may still be copied.
    left: usize,
}

impl<'v> Filler<'_, 'v> {
    fn fill(&mut self, template: &'v Template) -> Result<Cow<'v, Value>, Failure> {
        Ok(match template {
            Template::Value(value) => Cow::Borrowed(value),
            Template::Expr(expr) => expr.eval(self.values)?,
            Template::Ref(reference) => follow(reference, self.values)?,
            Template::Text(parts) => Cow::Owned(Value::String(self.text(parts)?)),
            Template::List(list) => {
                let filled: Result<_, Failure> = list.iter().map(|t| self.copy(t)).collect();
                Cow::Owned(Value::Array(filled?))
            }
            Template::Map(map) => {
                let filled: Result<_, Failure> = map.iter().map(|(k, t)| Ok((k.clone(), self.copy(t)?))).collect();
                Cow::Owned(Value::Object(filled?))
            }
        })
    }

    fn copy(&mut self, template: &'v Template) -> Result<Value, Failure> {
        let value = self.fill(template)?;
        if matches!(template, Template::Ref(_) | Template::Expr(_)) {
            self.spend(weight(&value))?;
        }
        Ok(value.into_owned())
    }

    fn text(&mut self, parts: &[Part]) -> Result<String, Failure> {
        let mut text = String::new();
        for part in parts {
            let before = text.len();
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Ref(reference) => match &*follow(reference, self.values)? {
                    Value::String(string) => text.push_str(string),
                    other => text += &other.to_string(),
                },
            }
            self.spend(text.len() - before)?;
        }
        Ok(text)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            let most = limits::INPUT_BYTES;
            bad_input(format!("what the task is given comes to more than the {most} bytes allowed"))
        })?;
        Ok(())
    }
}

/// About how long a value is as JSON.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(weight).sum::<usize>() + list.len() + 2,
        Value::Object(map) => map.iter().map(|(k, v)| k.len() + weight(v) + 4).sum::<usize>() + 2,
    }
}

fn follow<'v>(reference: &Reference, values: &dyn Values<'v>) -> Result<Cow<'v, Value>, Failure> {
    let Some(start) = values.value(&reference.root) else {
        return Err(bad_input(format!("`{}` has no value: nothing made one", reference.written(values))));
    };
    let lost = |at: usize, value: &Value| {
        let before = Reference { root: reference.root.clone(), path: reference.path[..at].to_vec() };
        let (whole, before) = (reference.written(values), before.written(values));
        let why = match (&reference.path[at], value) {
            (Step::Key(key), Value::Object(_)) => format!("has no key {}", shown(key)),
            (Step::At(_), Value::Array(list)) => format!("is a list of {}, counted from 0", list.len()),
            (_, other) => format!("is {}", kind(other)),
        };
        bad_input(format!("`{whole}` has no value: `{before}` {why}"))
    };
    match start {
        Cow::Borrowed(mut value) => {
            for (at, step) in reference.path.iter().enumerate() {
                value = enter(value, step).ok_or_else(|| lost(at, value))?;
            }
            Ok(Cow::Borrowed(value))
        }
        Cow::Owned(mut value) => {
            for (at, step) in reference.path.iter().enumerate() {
                let inner = match (step, &mut value) {
                    (Step::Key(key), Value::Object(map)) => map.get_mut(key).map(Value::take),
                    (Step::At(n), Value::Array(list)) => list.get_mut(*n as usize).map(Value::take),
                    _ => None,
                };
                value = inner.ok_or_else(|| lost(at, &value))?;
            }
            Ok(Cow::Owned(value))
        }
    }
}

fn enter<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match (step, value) {
        (Step::Key(key), Value::Object(map)) => map.get(key),
        (Step::At(n), Value::Array(list)) => list.get(*n as usize),
        _ => None,
    }
}

impl Reference {
    /// The reference as the author writes it.
    pub fn written(&self, values: &dyn Values<'_>) -> String {
        let mut text = values.written(&self.root);
        for step in &self.path {
            match step {
                Step::At(n) => text += &format!("[{n}]"),
                Step::Key(key) => push_key(&mut text, key),
            }
        }
        text
    }
}

/// `.key`, or `["key"]` where a dot would be read differently.
fn push_key(text: &mut String, key: &str) {
    let dotted = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    *text += &if dotted { format!(".{key}") } else { format!("[{key:?}]") };
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// The next attempt would be given the same, so there is none.
fn bad_input(message: String) -> Failure {
    Failure { retryable: false, ..Failure::new("bad_input", message) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Input, one output and one item; lent or given away, which must make no difference.
    struct Fixed {
        input: Value,
        output: Value,
        lend: bool,
    }

    impl<'v> Values<'v> for &'v Fixed {
        fn value(&self, root: &Root) -> Option<Cow<'v, Value>> {
            let value = match root {
                Root::Input => &self.input,
                Root::Output { node: 0, .. } => &self.output,
                _ => return None,
            };
            Some(if self.lend { Cow::Borrowed(value) } else { Cow::Owned(value.clone()) })
        }

        fn written(&self, root: &Root) -> String {
            match root {
                Root::Input => "inputs".into(),
                Root::Output { node, .. } => format!("tasks.n{node}.output"),
                Root::Item { .. } | Root::Var(_) => "item".into(),
            }
        }
    }

    fn fixed(lend: bool) -> Fixed {
        Fixed { input: json!({"v": "1.2", "n": 7, "odd key": null}), output: json!({"rows": [{"id": 1}, 2]}), lend }
    }

    fn input(key: &str) -> Reference {
        Reference { root: Root::Input, path: vec![Step::Key(key.into())] }
    }

    fn output(path: &[Step]) -> Reference {
        Reference { root: Root::Output { up: 0, node: 0 }, path: path.to_vec() }
    }

    fn check(template: &Template, expected: Result<&Value, &str>) {
        for lend in [true, false] {
            let fixed = fixed(lend);
            match (template.eval(&&fixed), expected) {
                (Ok(value), Ok(expected)) => assert_eq!(&*value, expected),
                (Err(failure), Err(message)) => {
                    assert_eq!((failure.kind.as_str(), failure.retryable), ("bad_input", false));
                    assert_eq!(failure.message, message);
                }
                (found, _) => panic!("{template:?} gave {found:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn a_single_reference_keeps_its_type_and_text_is_printed() {
        check(&Template::Ref(input("n")), Ok(&json!(7)));
        check(&Template::Ref(input("odd key")), Ok(&json!(null)));
        let rows = Step::Key("rows".into());
        let parts = vec![
            Part::Literal("v".into()),
            Part::Ref(input("v")),
            Part::Literal(" ".into()),
            Part::Ref(output(&[rows.clone(), Step::At(0)])),
        ];
        check(&Template::Text(parts), Ok(&json!("v1.2 {\"id\":1}")));
        let map = vec![
            ("a".into(), Template::Ref(output(&[rows, Step::At(1)]))),
            ("b".into(), Template::List(vec![Template::Value(json!(1)), Template::Ref(input("v"))])),
        ];
        check(&Template::Map(map), Ok(&json!({"a": 2, "b": [1, "1.2"]})));
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_named_as_the_author_wrote_it() {
        let rows = Step::Key("rows".into());
        for (reference, message) in [
            (input("x"), "`inputs.x` has no value: `inputs` has no key `x`"),
            (input("two words"), "`inputs[\"two words\"]` has no value: `inputs` has no key `two words`"),
            (
                output(&[rows.clone(), Step::At(2)]),
                "`tasks.n0.output.rows[2]` has no value: `tasks.n0.output.rows` is a list of 2, counted from 0",
            ),
            (
                output(&[rows, Step::At(1), Step::Key("id".into())]),
                "`tasks.n0.output.rows[1].id` has no value: `tasks.n0.output.rows[1]` is a number",
            ),
            (
                Reference { root: Root::Output { up: 1, node: 3 }, path: vec![] },
                "`tasks.n3.output` has no value: nothing made one",
            ),
        ] {
            check(&Template::Ref(reference), Err(message));
        }
    }

    #[test]
    fn what_needs_no_copy_is_borrowed() {
        let fixed = fixed(true);
        for template in [Template::Value(json!({"big": [1, 2, 3]})), Template::Ref(output(&[]))] {
            assert!(matches!(template.eval(&&fixed), Ok(Cow::Borrowed(_))));
        }
    }

    #[test]
    fn naming_a_large_output_often_is_bounded() {
        let fixed = Fixed { input: json!({}), output: json!("x".repeat(1 << 20)), lend: true };
        let many = Template::List(vec![Template::Ref(output(&[])); 100]);
        assert!(many.eval(&&fixed).unwrap_err().message.contains("16777216 bytes"));
        let text = Template::Text(vec![Part::Ref(output(&[])); 100]);
        assert_eq!(text.eval(&&fixed).unwrap_err().kind, "bad_input");
    }

    #[test]
    fn the_items_of_a_spread_are_a_list_or_a_failure() {
        let fixed = fixed(true);
        let rows = Items::Ref(output(&[Step::Key("rows".into())]));
        assert_eq!(rows.eval(&&fixed).unwrap().len(), 2);
        assert_eq!(Items::Literal(vec![json!(1)]).eval(&&fixed).unwrap().as_ref(), [json!(1)]);
        let failure = Items::Ref(input("n")).eval(&&fixed).unwrap_err();
        assert_eq!(failure.message, "`each` needs a list, but `inputs.n` is a number");
    }
}
