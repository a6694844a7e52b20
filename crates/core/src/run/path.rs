//! Paths: how tasks are printed. `build` in the root, `build[3]` for an item or arm, `build[3].step` where an item
//! has several, `poll#7.fetch` in an iteration, `try.fetch` in a body, `try!1.page` in a handler,
//! `helper().double` in a call.

use super::{Run, Scope};
use crate::event::TaskIx;
use crate::plan::Work;

impl Run {
    /// A task's printed name.
    pub fn path(&self, task: TaskIx) -> String {
        let Some(entry) = self.task(task) else { return format!("?{}", task.0) };
        let scope = &self.scopes[entry.scope as usize];
        let name = self.region_of(scope).name(task.0 - scope.task);
        if entry.scope == 0 {
            return name.to_owned();
        }
        let (outer, index) = (self.path(scope.parent), scope.index);
        let holder = match &self.spec_of(scope.parent).work {
            Work::For(_) | Work::While(_) => format!("{outer}#{index}"),
            Work::Try(_) if index == 0 => outer,
            Work::Try(_) => format!("{outer}!{index}"),
            Work::Call(_) => format!("{outer}()"),
            _ => format!("{outer}[{index}]"),
        };
        if self.is_its_scope(scope) { holder } else { format!("{holder}.{name}") }
    }

    /// Whether the one task of a scope is all that the scope is, so that it needs no name of its own.
    fn is_its_scope(&self, scope: &Scope) -> bool {
        let forks = matches!(self.spec_of(scope.parent).work, Work::Spread(_) | Work::Parallel(_));
        forks && self.region_of(scope).len() == 1
    }

    /// The task of a printed name. Looks at every name: for people, not for the fold.
    pub fn find(&self, path: &str) -> Option<TaskIx> {
        if self.scopes.is_empty() { None } else { self.find_in(0, path) }
    }

    /// `name` or `name[…]…` within a scope.
    fn find_in(&self, scope: u32, rest: &str) -> Option<TaskIx> {
        let scope = self.scopes.get(scope as usize)?;
        let region = self.region_of(scope);
        let ends: &[char] = if region.script().is_some() { &['[', '#', '!', '(', '.'] } else { &['['] };
        let end = rest.find(ends).unwrap_or(rest.len());
        let node = region.find(&rest[..end])?;
        self.find_below(TaskIx(scope.task + node), &rest[end..])
    }

    /// `[3]…`, `#7.…`, `!1.…`, `().…` or `.…` below a composite; nothing at all is the task itself.
    fn find_below(&self, task: TaskIx, rest: &str) -> Option<TaskIx> {
        if rest.is_empty() {
            return Some(task);
        }
        let (index, after) = match &self.spec_of(task).work {
            Work::For(_) | Work::While(_) => counted(rest.strip_prefix('#')?)?,
            Work::Try(_) if rest.starts_with('.') => (0, rest),
            Work::Try(_) => counted(rest.strip_prefix('!')?)?,
            Work::Call(_) => (0, rest.strip_prefix("()")?),
            _ => {
                let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
                (index.parse().ok()?, after)
            }
        };
        let number = self.composites.get(&task)?.scope_at(index)?;
        let scope = &self.scopes[number as usize];
        if self.is_its_scope(scope) {
            return self.find_below(TaskIx(scope.task), after);
        }
        self.find_in(number, after.strip_prefix('.')?)
    }
}

/// A number, and what follows it.
fn counted(rest: &str) -> Option<(u32, &str)> {
    let end = rest.find('.')?;
    Some((rest[..end].parse().ok()?, &rest[end..]))
}
