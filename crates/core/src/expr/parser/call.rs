//! Calls: functions, methods and macros. Macros are known while reading, because they bring variables.

use super::{Parsed, Parser};
use crate::expr::function::{Entry, FUNCTIONS, Form, Function, LEFT_OUT, MACROS, Macro, RESERVED};
use crate::expr::lexer::Token;
use crate::expr::tree::{Each, Id, Kind};
use crate::expr::{Fault, Span};
use crate::pattern::Pattern;
use crate::suggest::{nearest, shown};
use serde_json::Value;

impl Parser<'_> {
    /// `name(…)`; the bracket is at hand.
    pub(super) fn call(&mut self, name: &str, at: Span) -> Parsed<Id> {
        if name == "has" {
            return self.has(at);
        }
        self.advance()?;
        let args = self.arguments(Vec::new())?;
        let span = at.to(self.before);
        match Function::named(name) {
            Some(entry) if entry.2 == Form::Method => {
                self.misused(at, format!("`{name}` is written after a value"), entry);
            }
            Some(entry) => return self.known(entry, args, span, false),
            None if Macro::named(name).is_some() => {
                let help = format!("write `list.{name}(x, …)`");
                self.faults.push(Fault::new(at, "bad_call", format!("`{name}` is written after a list")).help(help));
            }
            None => self.unknown(name, at),
        }
        self.push(Kind::Literal(Value::Null), span)
    }

    /// `left.name(…)`; the bracket is at hand.
    pub(super) fn method(&mut self, left: Id, name: &str, at: Span, from: Span) -> Parsed<Id> {
        if let Some(found) = Macro::named(name) {
            return self.each(left, found, from);
        }
        self.advance()?;
        let args = self.arguments(vec![left])?;
        let span = from.to(self.before);
        match Function::named(name) {
            Some(entry) if entry.2 == Form::Plain => {
                self.misused(at, format!("`{name}` is not written after a value"), entry);
            }
            Some(entry) => return self.known(entry, args, span, true),
            None => self.unknown(name, at),
        }
        self.push(Kind::Literal(Value::Null), span)
    }

    /// Arguments up to the closing bracket, after those already there.
    fn arguments(&mut self, mut args: Vec<Id>) -> Parsed<Vec<Id>> {
        while !self.at(")") {
            args.push(self.expression()?);
            if !self.eat(",")? {
                break;
            }
        }
        self.expect(")")?;
        Ok(args)
    }

    fn known(&mut self, entry: &Entry, args: Vec<Id>, span: Span, method: bool) -> Parsed<Id> {
        let (function, name, _, least, most, _) = *entry;
        if args.len() < least || args.len() > most {
            let message =
                format!("`{name}` has {} arguments here, which it cannot have", args.len() - usize::from(method));
            self.misused(span, message, entry);
        }
        if let (Function::Matches, [_, pattern]) = (function, args.as_slice()) {
            self.check_pattern(*pattern);
        }
        self.push(Kind::Call(function, args.into(), method), span)
    }

    /// A pattern that is written out must be one.
    fn check_pattern(&mut self, id: Id) {
        let Kind::Literal(Value::String(pattern)) = &self.tree.node(id).kind else { return };
        if let Err(why) = Pattern::parse(pattern) {
            let message = format!("{} is no pattern: {why}", shown(pattern));
            self.faults
                .push(Fault::new(self.span_of(id), "bad_pattern", message).help("patterns are written as in RE2"));
        }
    }

    fn misused(&mut self, span: Span, message: String, entry: &Entry) {
        self.faults.push(Fault::new(span, "bad_call", message).help(format!("write it as `{}`", entry.5)));
    }

    fn unknown(&mut self, name: &str, at: Span) {
        if let Some((_, instead)) = LEFT_OUT.iter().find(|(left_out, _)| *left_out == name) {
            return self.refuse(at, format!("`{name}` is not supported"), *instead);
        }
        let known = FUNCTIONS.iter().map(|entry| entry.1).chain(MACROS.iter().map(|(_, name)| *name)).chain(["has"]);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "the reference of expressions lists all functions".into(),
        };
        self.faults
            .push(Fault::new(at, "unknown_function", format!("there is no function {}", shown(name))).help(help));
    }

    /// `has(x.key)`.
    fn has(&mut self, at: Span) -> Parsed<Id> {
        self.advance()?;
        let of = self.expression()?;
        self.expect(")")?;
        let span = at.to(self.before);
        let kind = match &self.tree.node(of).kind {
            Kind::Select(of, key) => {
                let has = Kind::Has(*of, key.clone());
                self.pop();
                has
            }
            _ => {
                let fault = Fault::new(self.span_of(of), "bad_call", "`has` asks whether a key is there");
                self.faults.push(fault.help("write it as `has(x.key)`; for items of a list compare `size(x)`"));
                Kind::Literal(Value::Null)
            }
        };
        self.push(kind, span)
    }

    /// `over.all(x, …)` and the like.
    fn each(&mut self, over: Id, name: Macro, from: Span) -> Parsed<Id> {
        let written = name.name();
        self.advance()?;
        let (var, at) = (self.said(), self.span);
        if self.token != Token::Ident {
            let fault = self.unexpected("the name of a variable");
            return Err(Box::new(
                fault.help(format!("write it as `list.{written}(x, …)`, where `x` stands for each item")),
            ));
        }
        self.advance()?;
        if !self.at(",") || RESERVED.contains(&var) || ["true", "false", "null", "in"].contains(&var) {
            let fault =
                Fault::new(at, "bad_call", format!("`{written}` needs the name of a variable and what to do with it"));
            return Err(Box::new(
                fault.help(format!("write it as `list.{written}(x, …)`, where `x` stands for each item")),
            ));
        }
        self.advance()?;
        self.vars.push(var.into());
        let first = self.expression()?;
        let second = if self.eat(",")? { Some(self.expression()?) } else { None };
        self.vars.pop();
        if second.is_some() && name != Macro::Map || self.at(",") {
            let fault = Fault::new(self.span, "bad_call", format!("`{written}` has too many arguments"));
            return Err(Box::new(
                fault.help(format!("write it as `list.{written}(x, …)`; pairs come from `enumerate(list)`")),
            ));
        }
        self.expect(")")?;
        let (filter, body) = match second {
            Some(body) => (Some(first), body),
            None => (None, first),
        };
        let span = from.to(self.before);
        self.push(Kind::Each(Box::new(Each { name, over, var: var.into(), filter, body })), span)
    }
}
