//! Idleness: whether anything could still move without a person. An engine without a watcher ends when it is so.

use super::Committer;
use edgewise_core::Kind;

impl<R> Committer<R> {
    /// Whether nothing runs, nothing could be given to a worker that waits, no timer is set, no schedule ticks and the
    /// work graph moves no run.
    pub fn is_idle(&mut self) -> bool {
        // First, since what it finds is to be looked at.
        if self.has_work() {
            return false;
        }
        let desk = &self.desk;
        let linked = !desk.links.is_empty();
        let at_work = linked || !desk.leases.is_empty() || !desk.advancing.is_empty() || !desk.unloaded.is_empty();
        let opening = desk.next_opening().is_some();
        !at_work && !opening && desk.ticks.is_empty() && !desk.could_match() && !self.has_timer()
    }

    /// Whether time opens a gate of the work graph that a task waits for, or a run that items wait for is to be looked
    /// at. What time brings to items alone keeps nobody up: it is for people, and known as soon as somebody looks.
    fn has_work(&mut self) -> bool {
        match self.desk.work() {
            Ok(work) => work.opens_for_tasks() || !self.desk.work.joins.is_empty(),
            Err(error) => error.kind == Kind::Unavailable,
        }
    }

    /// Timers on the desk are hints: those of gates that opened meanwhile must not keep an engine alive for days.
    /// Stops at the first one that is set, so that a look costs little however many there are.
    fn has_timer(&mut self) -> bool {
        while let Some((due, run, key)) = self.desk.timers.first().copied() {
            match self.desk.open(run) {
                Ok(cached) if cached.run.timers.get(&key) == Some(&due) => return true,
                Err(error) if error.kind == Kind::Unavailable => return true,
                _ => self.desk.timers.remove(&(due, run, key)),
            };
        }
        false
    }
}
