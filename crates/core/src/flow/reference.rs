//! What names mean in the expressions of a flow: `inputs.version`, `tasks.plan.output.targets`, `item`, and the
//! flow's own named values. It depends on the names the flow declares and on the place they stand in.

use super::problem::Sink;
use super::task_names::TaskNames;
use crate::expr::{Ast, Chain, Expr, Fault, Hyphens, Span};
use crate::limits;
use crate::name::Name;
use crate::suggest::shown;
use crate::template::Root;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The names a flow declares.
#[derive(Default)]
pub(super) struct Names<'n> {
    /// The tasks with their nodes in the root region.
    pub(super) tasks: TaskNames<'n>,
    /// The inputs.
    pub(super) inputs: BTreeSet<&'n str>,
    /// The secrets.
    pub(super) secrets: BTreeSet<&'n str>,
    /// The values named with `let`, with those they use in their place.
    pub(super) lets: BTreeMap<&'n str, Ast>,
    /// How many parts of expressions have taken the place of names. A large value under a short name would make
    /// more of a small file than memory holds.
    pub(super) replaced: Cell<usize>,
    /// All names under `let`, also of those that come later.
    pub(super) let_names: BTreeSet<&'n str>,
}

/// Where expressions stand, and so what they can name.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'p> {
    /// The node they belong to, which they cannot name.
    pub(super) of: Option<u32>,
    /// What the item is called here, if there is one.
    pub(super) item: Option<&'p str>,
    /// How many regions outwards the tasks are.
    pub(super) up: u32,
    /// Whether only inputs can be named.
    pub(super) only_inputs: bool,
    /// Whether what is evaluated here is given to whoever does the work and kept nowhere.
    pub(super) secrets: bool,
    /// Whether the node's own output is known here, because it has ended.
    pub(super) own: bool,
}

/// What to write, where a name alone says too little.
const EXAMPLES: &str = "a value is named as in `inputs.name` or `tasks.name.output.key`; a text stands in quotes";

impl Names<'_> {
    /// What an expression means at a place.
    pub(super) fn bind(&self, ast: Ast, place: Place<'_>, sink: &mut Sink<'_>) -> Result<Expr, Vec<Fault>> {
        let (span, before) = (ast.span(), ast.parts());
        let mut over = false;
        let ast = ast.substitute(&mut |name| {
            let named = if place.item == Some(name) { None } else { self.lets.get(name) };
            over |= named.is_some() && self.replaced.get() > limits::LET_PARTS;
            named.filter(|_| !over)
        })?;
        self.replaced.set(self.replaced.get() + ast.parts().saturating_sub(before));
        if over {
            let most = limits::LET_PARTS;
            let message = format!("named values have come to more than {most} parts in the expressions up to here");
            return Err(vec![Fault::new(span, "too_large", message).help("compute the large ones in a task")]);
        }
        ast.resolve(&mut |chain| self.find(chain, place, sink))
    }

    fn find(&self, chain: &Chain<'_>, place: Place<'_>, sink: &mut Sink<'_>) -> Result<(usize, Root), Fault> {
        let (head, span) = chain.segments[0];
        if place.item == Some(head) {
            return Ok((1, Root::Item { up: 0 }));
        }
        match head {
            "inputs" => self.input(chain, sink),
            "tasks" => self.task(chain, place, sink),
            "secrets" => self.secret(chain, place, sink),
            head => {
                let help = match place.item {
                    None if head == "item" => Some("the item exists only in the work of a task with `each`".into()),
                    Some(item) if head == "item" => Some(format!("here the item is called {}", shown(item))),
                    _ if self.let_names.contains(head) => {
                        Some(format!("a named value can use only those above it: move {} up", shown(head)))
                    }
                    item => sink
                        .meant(head, ["inputs", "tasks"].into_iter().chain(item).chain(self.let_names.iter().copied())),
                };
                let message = format!("{} names nothing here", shown(head));
                Err(Fault::new(span, "unknown_reference", message).help(help.unwrap_or_else(|| EXAMPLES.into())))
            }
        }
    }

    fn input(&self, chain: &Chain<'_>, sink: &mut Sink<'_>) -> Result<(usize, Root), Fault> {
        if let Some((key, span)) = chain.segments.get(1)
            && !self.inputs.contains(key)
        {
            let help = sink.meant(key, self.inputs.iter().copied());
            let help = help.unwrap_or_else(|| format!("declare it under `inputs:` as {}", shown(key)));
            let message = format!("there is no input {}", shown(key));
            return Err(Fault::new(after_dot(*span), "unknown_input", message).help(help));
        }
        Ok((1, Root::Input))
    }

    fn secret(&self, chain: &Chain<'_>, place: Place<'_>, sink: &mut Sink<'_>) -> Result<(usize, Root), Fault> {
        if !place.secrets {
            let help =
                "name it in `env`, in the `with` of an action, or in the `headers`, `json` or `body` of a request";
            let message = "a secret cannot be named here, because what stands here is kept";
            return Err(Fault::new(chain.span, "bad_reference", message).help(help));
        }
        let Some((name, span)) = chain.segments.get(1) else {
            let help = "name it: `secrets.NAME`";
            return Err(Fault::new(chain.span, "bad_reference", "which secret is meant?").help(help));
        };
        let known = Name::parse(name).ok().filter(|_| self.secrets.contains(name));
        known.map(|name| (2, Root::Secret(name))).ok_or_else(|| {
            let help = sink.meant(name, self.secrets.iter().copied());
            let help = help.unwrap_or_else(|| format!("declare it: `secrets: [{name}]`"));
            Fault::new(after_dot(*span), "unknown_secret", format!("there is no secret {}", shown(name))).help(help)
        })
    }

    fn task(&self, chain: &Chain<'_>, place: Place<'_>, sink: &mut Sink<'_>) -> Result<(usize, Root), Fault> {
        if place.only_inputs {
            let message = "only inputs can be named here, because this stands for every task";
            let help = "name the task's output in the `env` of the task that needs it";
            return Err(Fault::new(chain.span, "bad_reference", message).help(help));
        }
        let Some((name, span)) = chain.segments.get(1) else {
            let help = "name the task: `tasks.name.output`";
            return Err(Fault::new(chain.span, "bad_reference", "which task is meant?").help(help));
        };
        let Some(node) = self.tasks.get(name) else {
            let help = self.dotted(chain).or_else(|| sink.meant(name, self.tasks.sorted()));
            let message = format!("there is no task {}", shown(name));
            return Err(Fault { help, ..Fault::new(after_dot(*span), "unknown_task", message) });
        };
        let own = node.is_some() && node == place.of;
        if own && !place.own {
            let message = format!("{} cannot use its own output", shown(name));
            return Err(Fault::new(chain.span, "self_edge", message));
        }
        match chain.segments.get(2) {
            Some(("output", _)) => {}
            other => {
                let span = other.map_or(chain.span, |(_, span)| after_dot(*span));
                let help = format!("write {}", shown(&format!("{}.output", chain.written(2, Hyphens::InNames))));
                return Err(Fault::new(span, "bad_reference", "only the `output` of a task can be named").help(help));
            }
        }
        if own {
            // Within a spread the task is the one node of its own region.
            let node = if place.up == 0 { node.unwrap_or(0) } else { 0 };
            return Ok((3, Root::Output { up: 0, node }));
        }
        // A task whose name is refused has no node; what names it is not at fault.
        Ok((3, node.map_or(Root::Input, |node| Root::Output { up: place.up, node })))
    }

    /// The help for a task with a dot in its name, which needs brackets.
    fn dotted(&self, chain: &Chain<'_>) -> Option<String> {
        let mut name = String::new();
        for (key, _) in &chain.segments[1..] {
            name += if name.is_empty() { "" } else { "." };
            name += key;
            if self.tasks.get(&name).is_some() {
                let written = shown(&format!("tasks[{name:?}].output"));
                return Some(format!("a name with a dot needs brackets: {written}"));
            }
        }
        None
    }
}

fn after_dot(span: Span) -> Span {
    Span { from: (span.from + 1).min(span.to), ..span }
}
