//! Paths: how tasks are printed. `build` in the root, `build[3]` for an item, `build[3].step` where an item has several.

use super::Run;
use crate::event::TaskIx;

impl Run {
    /// A task's printed name.
    pub fn path(&self, task: TaskIx) -> String {
        let scope = self.scope_of(task);
        let region = self.region_of(scope);
        let name = region.name(task.0 - scope.task);
        if self.tasks[task.0 as usize].scope == 0 {
            return name.to_owned();
        }
        let item = format!("{}[{}]", self.path(scope.parent), scope.index);
        if region.len() == 1 { item } else { format!("{item}.{name}") }
    }

    /// The task of a printed name. Looks at every name: for people, not for the fold.
    pub fn find(&self, path: &str) -> Option<TaskIx> {
        if self.scopes.is_empty() { None } else { self.find_in(0, path) }
    }

    /// `name` or `name[…]…` within a scope.
    fn find_in(&self, scope: u32, rest: &str) -> Option<TaskIx> {
        let scope = &self.scopes[scope as usize];
        let end = rest.find('[').unwrap_or(rest.len());
        let node = self.region_of(scope).find(&rest[..end])?;
        self.find_below(TaskIx(scope.task + node), &rest[end..])
    }

    /// `[3]…` below a spread; nothing at all is the task itself.
    fn find_below(&self, task: TaskIx, rest: &str) -> Option<TaskIx> {
        if rest.is_empty() {
            return Some(task);
        }
        let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
        let number = self.spreads.get(&task)?.scope_at(index.parse().ok()?)?;
        let scope = &self.scopes[number as usize];
        if self.region_of(scope).len() == 1 {
            return self.find_below(TaskIx(scope.task), after);
        }
        self.find_in(number, after.strip_prefix('.')?)
    }
}
