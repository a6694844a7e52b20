//! Calls of functions: that they exist, get what they need, and never come back to themselves.

use super::{Check, error};
use crate::flow::problem::Sink;
use crate::text::tree::{Extent, Function, FunctionCall};

impl<'t> Check<'_, 't, '_> {
    pub(super) fn function_call(&mut self, call: &'t FunctionCall) {
        let name = call.name.text.as_str();
        let Some((number, function)) = self.functions.get(name).copied() else { return self.unknown(call) };
        self.calls.push((number, call.name.at));
        let parameters = &function.parameters;
        if let Some(extra) = call.positional.get(parameters.len()) {
            let message = format!("`{name}` takes {}, but is given {}", count(parameters.len()), call.positional.len());
            error(self.sink, extra.at, "extra_argument", message).help(Some("remove what is too much".into()));
            return;
        }
        for (argument, _) in &call.named {
            let place = parameters.iter().position(|p| p.name.text == argument.text);
            match place {
                None => {
                    let known = parameters.iter().map(|p| p.name.text.as_str());
                    let near = self.sink.meant(&argument.text, known.clone());
                    let all: Vec<String> = known.map(|name| format!("`{name}`")).collect();
                    let help = near.unwrap_or_else(|| match all.is_empty() {
                        true => "it takes none".to_owned(),
                        false => format!("it takes {}", all.join(", ")),
                    });
                    let message = format!("`{name}` has no parameter `{}`", argument.text);
                    error(self.sink, argument.at, "unknown_argument", message).help(Some(help));
                }
                Some(place) if place < call.positional.len() => {
                    let message = format!("`{}` is given by its place and by its name", argument.text);
                    error(self.sink, argument.at, "duplicate_name", message).help(Some("remove one of the two".into()));
                }
                Some(_) => {}
            }
        }
        let missing = call.bound(function).filter(|(_, value)| value.is_none()).take(5);
        let missing: Vec<String> = missing.map(|(p, _)| format!("`{}`", p.name.text)).collect();
        if !missing.is_empty() {
            let message = format!("`{name}` is not given {}", missing.join(", "));
            error(self.sink, call.name.at, "missing_argument", message).help(Some("add what is missing".into()));
        }
    }

    fn unknown(&mut self, call: &FunctionCall) {
        let name = call.name.text.as_str();
        // Looking through all flows for each would grow with the product of both.
        if self.sink.only_counts() {
            return;
        }
        let message = format!("there is no function `{name}`");
        let help = if self.flows.iter().any(|flow| flow.name.as_str() == name) {
            format!("start it as a run of its own: `flow {name}(…)`, or move what both need into a `fn`")
        } else {
            let expected = crate::text::expression::expected(name);
            let near = expected.or_else(|| self.sink.meant(name, self.functions.keys().copied()));
            near.unwrap_or_else(|| format!("declare it with `fn {name}(…):`, or call an action: `@{name}(…)`"))
        };
        error(self.sink, call.name.at, "unknown_function", message).help(Some(help));
    }
}

fn count(parameters: usize) -> String {
    match parameters {
        0 => "no values".to_owned(),
        1 => "1 value".to_owned(),
        n => format!("{n} values"),
    }
}

/// Refuses functions that call themselves, however far around: what they do could not be laid out in a plan. Each
/// circle is said once. Without recursion of our own, so that a long chain cannot exhaust the stack.
pub(super) fn recursion(functions: &[Function], graph: &[Vec<(usize, Extent)>], sink: &mut Sink<'_>) {
    let mut done = vec![false; graph.len()];
    // Where a function stands on the way, if it does.
    let mut place: Vec<Option<usize>> = vec![None; graph.len()];
    for start in 0..graph.len() {
        // The functions on the way, each with how many of its calls were followed.
        let mut way: Vec<(usize, usize)> = Vec::new();
        if !done[start] {
            place[start] = Some(0);
            way.push((start, 0));
        }
        while let Some((function, followed)) = way.last_mut() {
            let Some((callee, at)) = graph[*function].get(*followed).copied() else {
                done[*function] = true;
                place[*function] = None;
                way.pop();
                continue;
            };
            *followed += 1;
            if let Some(from) = place[callee] {
                circle(functions, &way[from..], at, sink);
            } else if !done[callee] {
                place[callee] = Some(way.len());
                way.push((callee, 0));
            }
        }
    }
}

fn circle(functions: &[Function], way: &[(usize, usize)], at: Extent, sink: &mut Sink<'_>) {
    const LONGEST: usize = 10;
    let name = |number: usize| functions[number].name.text.as_str();
    let back = name(way[0].0);
    let mut names: Vec<&str> = way.iter().take(LONGEST).map(|(number, _)| name(*number)).collect();
    if way.len() > LONGEST {
        names.push("…");
    }
    names.push(back);
    let message = format!("`{back}` calls itself: {}", names.join(" -> "));
    error(sink, at, "recursion", message).help(Some("repeat with `while` or `for` instead".into()));
}
