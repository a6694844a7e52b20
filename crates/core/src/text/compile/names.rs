//! The names of a body: each is a numbered variable, whoever assigns it.

use crate::plan::Var;
use crate::text::tree::{Block, StatementKind, Word};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The variables of one body.
#[derive(Default)]
pub(super) struct Names<'t> {
    vars: BTreeMap<&'t str, Var>,
    /// By variable, whether it has been assigned above the statement that is being compiled.
    assigned: Vec<bool>,
    next: Var,
}

impl<'t> Names<'t> {
    /// The parameters first, in their order, then whatever the body assigns.
    pub(super) fn new(parameters: impl Iterator<Item = &'t str>, body: &'t Block) -> Self {
        let mut names = Self::of(parameters);
        names.assigned = vec![true; names.vars.len()];
        names.read(body);
        names.assigned.resize(names.next as usize, false);
        names
    }

    /// The parameters alone, which is all that a call needs to know of a function.
    pub(super) fn of(parameters: impl Iterator<Item = &'t str>) -> Self {
        let mut names = Self::default();
        parameters.for_each(|parameter| names.declare(parameter));
        names
    }

    fn declare(&mut self, name: &'t str) {
        if let Entry::Vacant(free) = self.vars.entry(name) {
            free.insert(self.next);
            self.next += 1;
        }
    }

    fn read(&mut self, body: &'t Block) {
        let mut stack: Vec<&'t Block> = vec![body];
        while let Some(block) = stack.pop() {
            for statement in block {
                match &statement.kind {
                    StatementKind::Assign { targets, .. } => {
                        targets.iter().for_each(|target| self.declare(&target.text));
                    }
                    StatementKind::For { item, body, .. } => {
                        self.declare(&item.text);
                        stack.push(body);
                    }
                    StatementKind::While { body, .. } => stack.push(body),
                    StatementKind::If { arms, otherwise } => {
                        stack.extend(arms.iter().map(|(_, block)| block).chain(otherwise));
                    }
                    StatementKind::Try { body, handlers } => {
                        for handler in handlers {
                            handler.name.iter().for_each(|name| self.declare(&name.text));
                            stack.push(&handler.body);
                        }
                        stack.push(body);
                    }
                    _ => {}
                }
            }
        }
    }

    /// A name is assigned here.
    pub(super) fn assign(&mut self, name: &'t Word) -> Var {
        let var = self.vars.get(name.text.as_str()).copied().unwrap_or_default();
        if let Some(assigned) = self.assigned.get_mut(var as usize) {
            *assigned = true;
        }
        var
    }

    /// A variable that no author can name.
    pub(super) fn hidden(&mut self) -> Var {
        self.next += 1;
        self.next - 1
    }

    /// The variable of a name, and whether it has been assigned above.
    pub(super) fn find(&self, name: &str) -> Option<(Var, bool)> {
        let var = *self.vars.get(name)?;
        Some((var, self.assigned.get(var as usize).copied().unwrap_or_default()))
    }

    /// All names, for suggestions.
    pub(super) fn all(&self) -> impl Iterator<Item = &'t str> + '_ {
        self.vars.keys().copied()
    }
}
