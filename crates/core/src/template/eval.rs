//! Filling the holes: a template and the values it names become one value.
//!
//! What needs no copy is not copied: a template without expressions, and one that only selects from a value
//! that is already there, are borrowed. What is copied is bounded, because a short flow
//! could name a large output a thousand times.

use super::{Part, Root, Template};
use crate::event::{Failure, RULES};
use crate::expr::Expr;
use crate::input::shallow;
use crate::limits;
use crate::plan::Items;
use crate::suggest::shown;
use serde_json::Value;
use std::borrow::Cow;

/// Where references find their values.
pub trait Values<'v> {
    /// The value a reference starts from; `None` if there is none, as for a task that never ran.
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>>;

    /// Hears how many steps an expression took, for whoever bounds several of them together.
    fn spent(&self, _steps: u64) {}

    /// The rules that hold for whoever evaluates: those of a run are its own.
    fn rules(&self) -> u32 {
        RULES
    }
}

impl Template {
    /// The value of this template. An expression that has none fails as it says; a value that is too large
    /// is a failure of type `bad_input`.
    pub fn eval<'v>(&'v self, values: &dyn Values<'v>) -> Result<Cow<'v, Value>, Failure> {
        Filler { values, left: limits::INPUT_BYTES }.fill(self, 0)
    }
}

impl Items {
    /// The items of a spread; what is no list is a failure.
    pub fn eval<'v>(&'v self, values: &dyn Values<'v>) -> Result<Cow<'v, [Value]>, Failure> {
        match self {
            Items::Literal(list) => Ok(Cow::Borrowed(list)),
            Items::Expr(expr) => list_of(expr, values),
        }
    }
}

/// A list to go over, one item at a time or all at once.
pub(crate) fn list_of<'v>(expr: &'v Expr, values: &dyn Values<'v>) -> Result<Cow<'v, [Value]>, Failure> {
    let list = match expr.eval(values)? {
        Cow::Borrowed(Value::Array(list)) => Cow::Borrowed(list.as_slice()),
        Cow::Owned(Value::Array(list)) => Cow::Owned(list),
        other => {
            let message = format!("a list is needed to go over, but {} is {}", shown(expr.text()), kind(&other));
            return Err(Failure::mismatch(message));
        }
    };
    if list.len() > limits::SPREAD_ITEMS {
        let (written, most) = (shown(expr.text()), limits::SPREAD_ITEMS);
        let message = format!("{written} has {} items, at most {most} can be gone over", list.len());
        return Err(Failure::permanent("too_many_items", message));
    }
    Ok(list)
}

struct Filler<'f, 'v> {
    values: &'f dyn Values<'v>,
    /// How many bytes may still be copied.
    left: usize,
}

impl<'v> Filler<'_, 'v> {
    /// The value of a template that stands so deep in another.
    fn fill(&mut self, template: &'v Template, depth: usize) -> Result<Cow<'v, Value>, Failure> {
        Ok(match template {
            Template::Value(value) => Cow::Borrowed(value),
            Template::Expr(expr) => expr.eval(self.values)?,
            Template::Text(parts) => Cow::Owned(Value::String(self.text(parts)?)),
            Template::List(list) => {
                let filled: Result<_, Failure> = list.iter().map(|t| self.copy(t, depth + 1)).collect();
                Cow::Owned(Value::Array(filled?))
            }
            Template::Map(map) => {
                let mut field = |(key, t): &'v (String, Template)| Ok((key.clone(), self.copy(t, depth + 1)?));
                let filled: Result<_, Failure> = map.iter().map(&mut field).collect();
                Cow::Owned(Value::Object(filled?))
            }
        })
    }

    fn copy(&mut self, template: &'v Template, depth: usize) -> Result<Value, Failure> {
        let value = self.fill(template, depth)?;
        if matches!(template, Template::Expr(_)) {
            // What is kept must be readable again, also after it was put into other values again and again.
            if self.values.rules() >= 2 && !shallow(&value, limits::FILLED_DEPTH.saturating_sub(depth)) {
                let most = limits::FILLED_DEPTH;
                return Err(bad_input(format!("what is given comes to more than the {most} nested levels allowed")));
            }
            self.spend(weight(&value))?;
        }
        Ok(value.into_owned())
    }

    fn text(&mut self, parts: &'v [Part]) -> Result<String, Failure> {
        let mut text = String::new();
        for part in parts {
            let before = text.len();
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Expr(expr) => match &*expr.eval(self.values)? {
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
    use crate::expr::{Expr, Hyphens, parse};
    use serde_json::json;
    use std::cell::Cell;

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
    }

    fn fixed(lend: bool) -> Fixed {
        Fixed { input: json!({"v": "1.2", "n": 7, "odd key": null}), output: json!({"rows": [{"id": 1}, 2]}), lend }
    }

    fn expr(text: &str) -> Expr {
        let ast = parse(text, Hyphens::InNames).unwrap();
        let bound = ast.bind(&mut |path, _| match path {
            ["inputs", ..] => Ok((1, Root::Input)),
            ["tasks", "n0", ..] => Ok((3, Root::Output { up: 0, node: 0 })),
            _ => Ok((3, Root::Output { up: 1, node: 3 })),
        });
        bound.unwrap()
    }

    fn check(template: &Template, expected: Result<&Value, (&str, &str)>) {
        for lend in [true, false] {
            let fixed = fixed(lend);
            match (template.eval(&&fixed), expected) {
                (Ok(value), Ok(expected)) => assert_eq!(&*value, expected),
                (Err(failure), Err((kind, message))) => {
                    assert_eq!((failure.kind.as_str(), failure.retryable), (kind, false));
                    assert_eq!(failure.message, message);
                }
                (found, _) => panic!("{template:?} gave {found:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn a_single_expression_keeps_its_type_and_text_is_printed() {
        check(&Template::Expr(expr("inputs.n")), Ok(&json!(7)));
        check(&Template::Expr(expr("inputs['odd key']")), Ok(&json!(null)));
        let parts = vec![
            Part::Literal("v".into()),
            Part::Expr(expr("inputs.v")),
            Part::Literal(" ".into()),
            Part::Expr(expr("tasks.n0.output.rows[0]")),
        ];
        check(&Template::Text(parts), Ok(&json!("v1.2 {\"id\":1}")));
        let map = vec![
            ("a".into(), Template::Expr(expr("tasks.n0.output.rows[1] + inputs.n"))),
            ("b".into(), Template::List(vec![Template::Value(json!(1)), Template::Expr(expr("inputs.v"))])),
        ];
        check(&Template::Map(map), Ok(&json!({"a": 9, "b": [1, "1.2"]})));
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_named_as_the_author_wrote_it() {
        for (text, kind, message) in [
            ("inputs.x", "NoSuchKey", "`inputs.x` has no value: `inputs` has no key `x`"),
            (
                "inputs['two words']",
                "NoSuchKey",
                "`inputs[\"two words\"]` has no value: `inputs` has no key `two words`",
            ),
            (
                "tasks.n0.output.rows[2]",
                "IndexOutOfRange",
                "`tasks.n0.output.rows[2]` has no value: `tasks.n0.output.rows` is a list of 2, counted from 0",
            ),
            (
                "tasks.n0.output.rows[1].id",
                "TypeMismatch",
                "`tasks.n0.output.rows[1].id` has no value: `tasks.n0.output.rows[1]` is a number",
            ),
            ("tasks.n3.output", "NoValue", "`tasks.n3.output` has no value: nothing made one"),
        ] {
            check(&Template::Expr(expr(text)), Err((kind, message)));
        }
    }

    #[test]
    fn what_needs_no_copy_is_borrowed() {
        let fixed = fixed(true);
        for template in [Template::Value(json!({"big": [1, 2, 3]})), Template::Expr(expr("tasks.n0.output"))] {
            assert!(matches!(template.eval(&&fixed), Ok(Cow::Borrowed(_))));
        }
    }

    #[test]
    fn naming_a_large_output_often_is_bounded() {
        let fixed = Fixed { input: json!({}), output: json!("x".repeat(1 << 20)), lend: true };
        let many = Template::List(vec![Template::Expr(expr("tasks.n0.output")); 100]);
        assert!(many.eval(&&fixed).unwrap_err().message.contains("16777216 bytes"));
        let text = Template::Text(vec![Part::Expr(expr("tasks.n0.output")); 100]);
        assert_eq!(text.eval(&&fixed).unwrap_err().kind, "bad_input");
    }

    #[test]
    fn what_holds_a_deep_value_is_bounded_too() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
        let around = |levels: usize| {
            (0..levels).fold(Template::Expr(expr("tasks.n0.output")), |inner, n| match n % 2 {
                0 => Template::List(vec![inner]),
                _ => Template::Map(vec![("a".into(), inner)]),
            })
        };
        let eval = |template: &Template, output: Value| {
            let fixed = Fixed { input: json!({}), output, lend: true };
            template.eval(&&fixed).map(Cow::into_owned)
        };
        let most = limits::FILLED_DEPTH - limits::DEPTH;
        let made = eval(&around(most), nested(limits::DEPTH)).unwrap();
        assert!(shallow(&made, limits::FILLED_DEPTH) && !shallow(&made, limits::FILLED_DEPTH - 1));
        let failure = eval(&around(most + 1), nested(limits::DEPTH)).unwrap_err();
        assert_eq!(failure.kind, "bad_input");
        assert!(failure.message.contains("96 nested levels"), "{}", failure.message);
    }

    #[test]
    fn a_run_of_the_first_rules_is_given_what_it_always_was() {
        let deep = (0..=limits::FILLED_DEPTH).fold(json!(1), |value, _| json!([value]));
        let template = Template::List(vec![Template::Expr(expr("tasks.n0.output"))]);
        let (text, spent) = (json!("x"), [Cell::new(0), Cell::new(0)]);
        let of = |output, rules: u32| Counted { output, rules, spent: &spent[rules as usize - 1] };
        assert_eq!(template.eval(&of(&deep, 2)).unwrap_err().kind, "bad_input");
        assert_eq!(*template.eval(&of(&deep, 1)).unwrap(), json!([deep]));
        // And to read a pattern costs it nothing.
        spent.iter().for_each(|steps| steps.set(0));
        let matches = expr(&format!("tasks.n0.output.matches('{}')", "(a|b)".repeat(50)));
        [1, 2].iter().for_each(|rules| assert_eq!(*matches.eval(&of(&text, *rules)).unwrap(), json!(false)));
        assert!(spent[0].get() < spent[1].get(), "{spent:?}");
    }

    /// Counts steps.
    struct Counted<'v> {
        output: &'v Value,
        rules: u32,
        spent: &'v Cell<u64>,
    }

    impl<'v> Values<'v> for Counted<'v> {
        fn value(&self, _: &Root) -> Option<Cow<'v, Value>> {
            Some(Cow::Borrowed(self.output))
        }

        fn spent(&self, steps: u64) {
            self.spent.set(self.spent.get() + steps);
        }

        fn rules(&self) -> u32 {
            self.rules
        }
    }

    #[test]
    fn the_items_of_a_spread_are_a_list_or_a_failure() {
        let fixed = fixed(true);
        let rows = Items::Expr(expr("tasks.n0.output.rows"));
        assert_eq!(rows.eval(&&fixed).unwrap().len(), 2);
        assert_eq!(Items::Literal(vec![json!(1)]).eval(&&fixed).unwrap().as_ref(), [json!(1)]);
        let failure = Items::Expr(expr("inputs.n")).eval(&&fixed).unwrap_err();
        assert_eq!(failure.message, "a list is needed to go over, but `inputs.n` is a number");
    }
}
