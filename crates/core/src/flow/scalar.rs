//! What a scalar means: the core schema of YAML 1.2, and only that.
//!
//! `yes`, `no`, `on` and `off` are texts. Integers are exact or refused; a number that JSON cannot hold is
//! refused too, so no value changes on its way into a plan.

use super::problem::Sink;
use super::source::Span;
use super::tree::{Kind, Node, ScalarStyle};
use crate::suggest::shown;
use serde_json::Value;

/// The value of a scalar, or why it has none.
pub(super) fn resolve(text: &str, style: ScalarStyle) -> Result<Value, &'static str> {
    if style != ScalarStyle::Plain {
        return Ok(Value::from(text));
    }
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match number(text) {
            Some(number) => number?,
            None => Value::from(text),
        },
    })
}

/// Whether a scalar is a text; the same as asking for its value, without making it.
pub(super) fn is_text(text: &str, style: ScalarStyle) -> bool {
    let word = matches!(text.len(), 0..=1 | 4..=5)
        && matches!(text, "" | "~" | "null" | "Null" | "NULL" | "true" | "True" | "TRUE" | "false" | "False" | "FALSE");
    style != ScalarStyle::Plain || !word && number(text).is_none()
}

fn number(text: &str) -> Option<Result<Value, &'static str>> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    const TOO_LARGE: &str = "is a whole number of more than 64 bits";
    let digits = |text: &str, radix| !text.is_empty() && text.chars().all(|c: char| c.is_digit(radix));
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(rest) = text.strip_prefix(prefix).filter(|rest| digits(rest, radix)) {
            return Some(u64::from_str_radix(rest, radix).map(Value::from).map_err(|_| TOO_LARGE));
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits(unsigned, 10) {
        let exact = text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from));
        return Some(exact.map_err(|_| TOO_LARGE));
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Err("is not a finite number"));
    }
    if !is_float(unsigned) {
        return None;
    }
    let float = text.parse::<f64>().ok().filter(|f| f.is_finite());
    Some(float.map(Value::from).ok_or("is not a finite number"))
}

/// `1.5`, `.5`, `1.`, `1e9`: digits on at least one side of the point, then an exponent if any.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['-', '+']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    exponent_ok && digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty())
}

/// The value of a scalar; a bad number is said to be one.
pub(super) fn value_of(text: &str, style: ScalarStyle, span: Span, sink: &mut Sink<'_>) -> Value {
    resolve(text, style).unwrap_or_else(|why| {
        let help = "put quotes around it to keep it as a text";
        sink.error(span, "bad_number", format!("{} {why}", shown(text))).help(Some(help.into()));
        Value::Null
    })
}

/// A whole value without templates.
pub(super) fn literal(node: &Node<'_>, sink: &mut Sink<'_>) -> Value {
    match &node.kind {
        Kind::Scalar(text, style) => {
            if text.contains("${{") {
                let span = sink.find(node.span, "${{");
                sink.error(span, "bad_template", "a template cannot stand here: this value must be written out");
            }
            value_of(text, *style, node.span, sink)
        }
        Kind::List(list) => list.iter().map(|n| literal(n, sink)).collect(),
        Kind::Map(map) => map.iter().map(|e| (e.key.to_string(), literal(&e.value, sink))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_are_read_by_the_core_schema() {
        for (text, value) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("null", json!(null)),
            ("true", json!(true)),
            ("FALSE", json!(false)),
            ("yes", json!("yes")),
            ("on", json!("on")),
            ("off", json!("off")),
            ("No", json!("No")),
            ("12", json!(12)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("017", json!(17)),
            ("9223372036854775807", json!(i64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            ("1e3", json!(1000.0)),
            ("-2.5E-3", json!(-0.0025)),
            ("1_000", json!("1_000")),
            ("1.2.3", json!("1.2.3")),
            ("0x", json!("0x")),
            ("e5", json!("e5")),
            (".", json!(".")),
            ("-", json!("-")),
            ("12:30", json!("12:30")),
            ("2027-01-01", json!("2027-01-01")),
        ] {
            assert_eq!(is_text(text, ScalarStyle::Plain), value.is_string(), "{text:?}");
            assert_eq!(resolve(text, ScalarStyle::Plain), Ok(value), "{text:?}");
        }
        assert_eq!(resolve("12", ScalarStyle::SingleQuoted), Ok(json!("12")));
        for text in
            ["18446744073709551616", "-9223372036854775809", "0xFFFFFFFFFFFFFFFFF", ".inf", "-.INF", ".nan", "1e999"]
        {
            assert!(resolve(text, ScalarStyle::Plain).is_err(), "{text}");
        }
    }
}
