//! What is written out: numbers, texts, lists and maps.

use super::{Parsed, Parser};
use crate::expr::chars::decode;
use crate::expr::lexer::Token;
use crate::expr::tree::{Id, Kind};
use crate::expr::{Fault, Span};
use crate::suggest::shown;
use serde_json::Value;

impl Parser<'_> {
    pub(super) fn literal(&mut self, minus: Option<Span>) -> Parsed<Id> {
        let span = self.span;
        let value = match self.token {
            Token::Int | Token::Double => self.number(minus)?,
            Token::Text => Value::String(decode(self.said(), span)?),
            Token::Uint => {
                let digits = self.said().trim_end_matches(['u', 'U']);
                let message = format!("{} is unsigned, but all integers are signed", shown(self.said()));
                self.refuse(span, message, format!("write `{digits}`"));
                Value::Null
            }
            Token::Bytes => {
                let text = self.said().trim_start_matches(['b', 'B', 'r', 'R']);
                self.refuse(span, "there are no bytes, only texts", format!("write {}", shown(text)));
                Value::Null
            }
            Token::Sign([b'.', 0]) => {
                let fault = Fault::new(span, "not_supported", "a name cannot start with a dot");
                return Err(Box::new(fault.help("leave the dot out; `.5` is written `0.5`")));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.advance()?;
        self.push(Kind::Literal(value), minus.unwrap_or(span).to(span))
    }

    fn number(&mut self, minus: Option<Span>) -> Parsed<Value> {
        let sign = if minus.is_some() { "-" } else { "" };
        let text = self.said();
        let span = minus.unwrap_or(self.span).to(self.span);
        if self.token == Token::Double {
            let number = format!("{sign}{text}").parse::<f64>().ok().and_then(serde_json::Number::from_f64);
            return number.map(Value::Number).ok_or_else(|| {
                let message = format!("{} is too large for a number", shown(text));
                Box::new(Fault::new(span, "bad_number", message).help("doubles go up to about 1.8e308"))
            });
        }
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let (digits, radix) = hex.map_or((text, 10), |hex| (hex, 16));
        // Most numbers have no sign, and then there is nothing to put together.
        if let Some(number) = (sign.is_empty()).then(|| i64::from_str_radix(digits, radix).ok()).flatten() {
            return Ok(Value::from(number));
        }
        let signed = format!("{sign}{digits}");
        match i64::from_str_radix(&signed, radix) {
            Ok(number) => Ok(Value::from(number)),
            Err(_) if self.stored && signed.parse::<u64>().is_ok() => {
                Ok(signed.parse::<u64>().unwrap_or_default().into())
            }
            Err(_) => {
                let message = format!("{} is no integer of 64 bits", shown(&format!("{sign}{text}")));
                let help = "integers go from -9223372036854775808 to 9223372036854775807; with `.0` it is a double";
                Err(Box::new(Fault::new(span, "bad_number", message).help(help)))
            }
        }
    }

    pub(super) fn list(&mut self) -> Parsed<Id> {
        let from = self.span;
        self.advance()?;
        let mut items = Vec::new();
        while !self.at("]") {
            items.push(self.expression()?);
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("]")?;
        let span = from.to(self.before);
        self.push(Kind::List(items.into()), span)
    }

    pub(super) fn map(&mut self) -> Parsed<Id> {
        let from = self.span;
        self.advance()?;
        let mut entries = Vec::new();
        while !self.at("}") {
            let key = self.expression()?;
            self.check_key(key);
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("}")?;
        let span = from.to(self.before);
        self.push(Kind::Map(entries.into()), span)
    }

    /// A key that is written out is a text.
    fn check_key(&mut self, key: Id) {
        if let Kind::Literal(value) = &self.tree.node(key).kind
            && !value.is_string()
        {
            let span = self.span_of(key);
            let said = span.of(self.lexer.text);
            self.refuse(
                span,
                format!("{} cannot be a key: keys are texts", shown(said)),
                format!("write `\"{said}\"`"),
            );
        }
    }
}
