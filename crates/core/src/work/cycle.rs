//! Cycles: a write that would close one in the waits-for graph is refused, with the path.
//!
//! Satisfied dependencies count as well, so that reopening is always safe. The search goes from both ends of a new
//! edge at once, one step here and one step there, never past the order, and is over when either side has nowhere left
//! to go: its cost is that of the smaller side, and there is no limit of depth.

use super::Work;
use super::seen::Seen;
use super::waits::{Node, Part};
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// What a write would change in the waits-for graph.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub added: Vec<(Node, Node)>,
    pub gone: BTreeSet<(Node, Node)>,
}

/// Which way a search goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Down,
    Up,
}

struct Side {
    way: Way,
    /// The label that the search does not go past: no path that closes a cycle does.
    bound: u64,
    seen: Seen,
    open: Vec<Node>,
}

impl Side {
    fn new(way: Way, start: Node, bound: u64) -> Self {
        let mut seen = Seen::default();
        seen.add(start, start);
        Self { way, bound, seen, open: vec![start] }
    }

    /// Looks at one more node; `Err` is where the other side was met.
    fn step(&mut self, work: &Work, difference: &Difference, other: &Seen) -> Result<bool, Node> {
        let Some(node) = self.open.pop() else { return Ok(false) };
        let mut met = None;
        let mut visit = |next: Node| {
            let label = work.lent(next).label;
            let past = if self.way == Way::Down { label > self.bound } else { label < self.bound };
            if !past && self.seen.add(next, node) {
                self.open.push(next);
                if other.has(next) {
                    met = Some(next);
                }
            }
        };
        let kept = |edge: &(Node, Node)| difference.gone.is_empty() || !difference.gone.contains(edge);
        match self.way {
            Way::Down => {
                work.successors(node, &mut |next, _| {
                    if kept(&(node, next)) {
                        visit(next);
                    }
                });
                difference.added.iter().filter(|(from, _)| *from == node).for_each(|(_, to)| visit(*to));
            }
            Way::Up => {
                work.predecessors(node, &mut |next, _| {
                    if kept(&(next, node)) {
                        visit(next);
                    }
                });
                difference.added.iter().filter(|(_, to)| *to == node).for_each(|(from, _)| visit(*from));
            }
        }
        met.map_or(Ok(true), Err)
    }
}

impl Work {
    /// Refuses a difference that closes a cycle.
    pub(super) fn check_cycle(&self, difference: &Difference) -> Result<()> {
        for (from, to) in &difference.added {
            if let Some(path) = self.path(*to, *from, difference) {
                let mut whole = vec![*from];
                whole.extend(path);
                return Err(self.cycle(&whole));
            }
        }
        Ok(())
    }

    /// A way from one node to another, both included.
    fn path(&self, from: Node, to: Node, difference: &Difference) -> Option<Vec<Node>> {
        if from == to {
            return Some(vec![from]);
        }
        let label = |node: Node| self.lent(node).label;
        let last = difference.added.iter().map(|(from, _)| label(*from)).max().unwrap_or(0);
        let first = difference.added.iter().map(|(_, to)| label(*to)).min().unwrap_or(0);
        if label(from) > last || label(to) < first {
            return None;
        }
        let (mut down, mut up) = (Side::new(Way::Down, from, last), Side::new(Way::Up, to, first));
        loop {
            for flip in [false, true] {
                let (one, other) = if flip { (&mut up, &down) } else { (&mut down, &up) };
                match one.step(self, difference, &other.seen) {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(met) => return Some(joined(&down.seen, &up.seen, met)),
                }
            }
        }
    }

    /// The refusal, with the path in words.
    pub(super) fn cycle(&self, path: &[Node]) -> Error {
        const SHOWN: usize = 20;
        let mut steps: Vec<String> = path.windows(2).map(|pair| self.step(pair[0], pair[1])).collect();
        let more = steps.len().saturating_sub(SHOWN);
        if more > 0 {
            steps.splice(SHOWN / 2..SHOWN / 2 + more, [format!("{more} steps more")]);
        }
        let message = format!(
            "this would close a cycle, and everything on it would wait for ever: {}; leave this dependency out, or remove another one on that path first",
            steps.join(", ")
        );
        Error::conflict("cycle_detected", message)
    }

    /// One step of a path in words.
    fn step(&self, from: Node, to: Node) -> String {
        let name = |node: Node| match node.part() {
            Part::May(n) | Part::Outer(n) => self.id(n).to_string(),
            Part::Run(n) => format!("run {}", self.runs[n as usize].run),
        };
        let verb = match (from.part(), to.part()) {
            (_, Part::Outer(_)) => "is in",
            (Part::May(n), Part::May(child)) if self.parent_of(child) == Some(n) => "holds",
            _ => "waits for",
        };
        format!("{} {verb} {}", name(from), name(to))
    }

    /// Cycles in what is stored. There are none as long as every write went through the check.
    pub fn cycles(&self) -> Vec<Vec<super::Target>> {
        let mut found = Vec::new();
        let mut done = Seen::default();
        let all = (0..self.items.len() as u32).flat_map(|n| [Node::may(n), Node::outer(n)]);
        for start in all.chain((0..self.runs.len() as u32).map(Node::run)) {
            if let Some(path) = self.loop_from(start, &mut done) {
                let mut names: Vec<super::Target> = path.into_iter().map(|node| self.target_of(node)).collect();
                names.dedup();
                found.push(names);
            }
        }
        found
    }

    /// Walks down from a node; gives the path back to a node that it is still under.
    fn loop_from(&self, start: Node, done: &mut Seen) -> Option<Vec<Node>> {
        if !done.add(start, start) {
            return None;
        }
        let next = |node: Node| {
            let mut next = Vec::new();
            self.successors(node, &mut |to, _| next.push(to));
            next
        };
        let mut under = BTreeSet::from([start]);
        let mut stack = vec![(start, next(start))];
        while let Some((node, rest)) = stack.last_mut() {
            let Some(to) = rest.pop() else {
                under.remove(node);
                stack.pop();
                continue;
            };
            if under.contains(&to) {
                let from = stack.iter().position(|(node, _)| *node == to)?;
                return Some(stack[from..].iter().map(|(node, _)| *node).chain([to]).collect());
            }
            if done.add(to, to) {
                under.insert(to);
                stack.push((to, next(to)));
            }
        }
        None
    }

    fn target_of(&self, node: Node) -> super::Target {
        match node.part() {
            Part::May(n) | Part::Outer(n) => self.id(n).clone().into(),
            Part::Run(n) => super::Target::run(self.runs[n as usize].run),
        }
    }
}

/// The path over the node where two searches met: back to the start of one, and on to the start of the other.
fn joined(down: &Seen, up: &Seen, met: Node) -> Vec<Node> {
    let walk = |seen: &Seen| {
        let mut path = vec![met.code()];
        while let Some(before) = seen.before(path[path.len() - 1]).filter(|before| *before != path[path.len() - 1]) {
            path.push(before);
        }
        path
    };
    let mut path = walk(down);
    path.reverse();
    path.extend(&walk(up)[1..]);
    path.into_iter().map(Node::from_code).collect()
}
