//! Composites: nodes that are done by scopes of their own regions, and end with them.
//!
//! A composite is its own barrier. Some make all scopes at once (spread, parallel), some one after another
//! (for, while), some just one (a branch, a call, a try with the handler after it). So nothing in a plan
//! points back, and nothing is ever reset.

use super::script::Var;
use super::{Items, Work, is_default};
use crate::expr::Expr;
use crate::gate::{Gate, Wait};
use crate::name::Name;
use crate::template::Template;
use serde::{Deserialize, Serialize};

/// A spread: one scope of `region` for each item, joined by the composite itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The region made once for each item.
    pub region: u32,
    /// Where the items come from.
    pub items: Items,
    /// How many items may fail before the spread does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tolerate: u32,
    /// Whether the first failure over `tolerate` cancels the other items.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fail_fast: bool,
}

/// Several regions at once; the output is the list of theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parallel {
    /// The region of each arm.
    pub arms: Vec<u32>,
    /// How many arms may fail before it does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tolerate: u32,
    /// Whether the first failure over `tolerate` cancels the other arms.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fail_fast: bool,
}

/// The first arm whose condition holds; none is fine too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The arms in the author's order.
    pub arms: Vec<Arm>,
}

/// One arm of a branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// When it is taken; always if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// What is done then.
    pub region: u32,
}

/// One scope after another, for each item of a list that is evaluated once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct For {
    /// The list.
    pub items: Expr,
    /// What the item is called; several names take it apart.
    pub to: Vec<Var>,
    /// The body.
    pub region: u32,
}

/// One scope after another while a condition holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct While {
    /// The condition, evaluated before each scope.
    pub when: Expr,
    /// The body.
    pub region: u32,
}

/// A body, and what to do if it fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Try {
    /// The body.
    pub body: u32,
    /// The first that fits is run; scope n + 1 is that of handler n.
    pub handlers: Vec<Handler>,
}

/// What is done about failures of some types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handler {
    /// The types; any at all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// What the failure is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Var>,
    /// What is done.
    pub region: u32,
}

/// A function's body, with variables of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The function's name.
    pub function: Name,
    /// Its body, which other calls may share.
    pub region: u32,
    /// What its parameters are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<(Var, Expr)>,
}

impl Work {
    /// Whether its scopes do the work.
    pub fn is_composite(&self) -> bool {
        !self.is_leased() && !self.is_linked() && !matches!(self, Work::Gate(_) | Work::Sleep(_) | Work::Emit(_))
    }

    /// Whether something of its own does it, which it waits for: a run, or an item.
    pub fn is_linked(&self) -> bool {
        matches!(self, Work::SubRun(_) | Work::Item(_) | Work::Gate(Gate { wait: Wait::Shared { .. }, .. }))
    }

    /// Whether a worker does it under a lease.
    pub fn is_leased(&self) -> bool {
        matches!(self, Work::Action { .. } | Work::Command(_) | Work::Http(_))
    }

    /// The region of its scope of an index.
    pub fn region_at(&self, index: u32) -> Option<u32> {
        match self {
            Work::Action { .. } | Work::Command(_) | Work::Http(_) => None,
            Work::Gate(_) | Work::Sleep(_) | Work::SubRun(_) | Work::Item(_) | Work::Emit(_) => None,
            Work::Spread(Spread { region, .. })
            | Work::For(For { region, .. })
            | Work::While(While { region, .. })
            | Work::Call(Call { region, .. }) => Some(*region),
            Work::Parallel(Parallel { arms, .. }) => arms.get(index as usize).copied(),
            Work::Branch(Branch { arms }) => arms.get(index as usize).map(|arm| arm.region),
            Work::Try(Try { body, .. }) if index == 0 => Some(*body),
            Work::Try(Try { handlers, .. }) => handlers.get(index as usize - 1).map(|handler| handler.region),
        }
    }

    /// All regions it can make scopes of.
    pub fn regions(&self) -> impl Iterator<Item = u32> + '_ {
        let many = match self {
            Work::Parallel(Parallel { arms, .. }) => arms.len(),
            Work::Branch(Branch { arms }) => arms.len(),
            Work::Try(Try { handlers, .. }) => handlers.len() + 1,
            _ => 1,
        };
        (0..many as u32).filter_map(|index| self.region_at(index))
    }

    /// What it is called.
    pub fn kind(&self) -> &'static str {
        match self {
            Work::Action { .. } => "action",
            Work::Command(_) => "run",
            Work::Http(_) => "http",
            Work::Gate(_) => "gate",
            Work::Sleep(_) => "sleep",
            Work::SubRun(_) => "flow",
            Work::Item(_) => "item",
            Work::Emit(_) => "emit",
            Work::Spread(_) => "spread",
            Work::Parallel(_) => "parallel",
            Work::Branch(_) => "if",
            Work::For(_) => "for",
            Work::While(_) => "while",
            Work::Try(_) => "try",
            Work::Call(_) => "call",
        }
    }

    /// Calls `see` with every template in it.
    pub(super) fn templates(&self, see: &mut dyn FnMut(&Template)) {
        match self {
            Work::Action { with, .. } => see(with),
            Work::Command(command) => command.env.iter().for_each(|(_, value)| see(value)),
            Work::Http(http) => http.templates().for_each(see),
            Work::SubRun(sub) => see(&sub.with),
            Work::Item(item) => see(&item.fields),
            Work::Emit(emit) => see(&emit.payload),
            Work::Gate(Gate { wait: Wait::External { id, .. } | Wait::Shared { gate: id }, .. }) => see(id),
            _ => {}
        }
    }

    /// Calls `see` with every expression in it.
    pub fn expressions(&self, see: &mut dyn FnMut(&Expr)) {
        self.templates(&mut |template| template.expressions(see));
        match self {
            Work::Spread(Spread { items: Items::Expr(items), .. }) => see(items),
            Work::Branch(branch) => branch.arms.iter().filter_map(|arm| arm.when.as_ref()).for_each(see),
            Work::For(each) => see(&each.items),
            Work::While(each) => see(&each.when),
            Work::Sleep(span) => see(span),
            Work::Call(call) => call.args.iter().for_each(|(_, arg)| see(arg)),
            _ => {}
        }
    }
}
