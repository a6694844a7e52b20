//! Inputs as they are typed. `jobs=4` for a number means the number: the flow says so by what it declares, or by its
//! default where it declares nothing. `jobs:=4` says it itself.

use crate::args;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::input::{self, Input, InputType};
use serde_json::{Map, Value};

/// What was typed, as values. What no flow asks for is refused by whoever completes it.
pub(super) fn read(typed: &[args::Input], declared: &[Input]) -> Result<Map<String, Value>> {
    let mut given = Map::new();
    for one in typed {
        let value = match (&one.value, declared.iter().find(|declared| declared.name == one.name)) {
            (Value::String(text), Some(declared)) if one.plain => meant(text, declared)?,
            (value, _) => value.clone(),
        };
        if given.insert(one.name.to_string(), value).is_some() {
            let what = format!("the input `{}` is given twice", one.name);
            return Err(Problem::new(Kind::Invalid, "bad_input", what).next("give it once"));
        }
    }
    Ok(given)
}

fn meant(text: &str, declared: &Input) -> Result<Value> {
    match (declared.kind, &declared.default) {
        (InputType::String, _) => Ok(text.into()),
        (InputType::Any, Some(default)) => {
            let read = serde_json::from_str(text).ok().filter(|read| is_like(read, default));
            // It may be anything, so what is not of the default's type is a text.
            Ok(read.unwrap_or_else(|| text.into()))
        }
        (InputType::Any, None) => Ok(text.into()),
        _ => Ok(input::parse_argument(std::slice::from_ref(declared), &declared.name, text)?),
    }
}

/// Whether two values are of one type, and that is not text.
fn is_like(value: &Value, other: &Value) -> bool {
    let kinds = [InputType::Number, InputType::Boolean, InputType::List, InputType::Map];
    kinds.iter().any(|kind| kind.holds(value) && kind.holds(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::name::Name;
    use serde_json::json;

    fn check(kind: InputType, default: &Value, typed: &str, found: &Value) {
        let name = Name::parse("n").unwrap();
        let default = (!default.is_null()).then(|| default.clone());
        let declared = Input { name, kind, required: false, default, pattern: None, description: None };
        let given = read(&[args::Input::parse(typed).unwrap()], &[declared]).unwrap();
        assert_eq!(&given["n"], found, "{kind} {typed}");
    }

    #[test]
    fn a_text_is_read_as_what_is_declared_or_else_as_what_the_default_is() {
        let none = Value::Null;
        check(InputType::Integer, &none, "n=4", &json!(4));
        check(InputType::String, &json!("x"), "n=4", &json!("4"));
        check(InputType::String, &none, "n=true", &json!("true"));
        check(InputType::Any, &json!(3), "n=4", &json!(4));
        check(InputType::Any, &json!(3), "n=-0.5", &json!(-0.5));
        check(InputType::Any, &json!(false), "n=true", &json!(true));
        check(InputType::Any, &json!([1]), "n=[2,3]", &json!([2, 3]));
        check(InputType::Any, &json!({"a": 1}), "n={\"b\":2}", &json!({"b": 2}));
        check(InputType::Any, &json!(3), "n=four", &json!("four"));
        check(InputType::Any, &json!(3), "n=true", &json!("true"));
        check(InputType::Any, &json!("x"), "n=4", &json!("4"));
        check(InputType::Any, &none, "n=4", &json!("4"));
        check(InputType::Any, &json!(3), "n:=\"4\"", &json!("4"));
    }
}
