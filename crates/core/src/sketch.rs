//! Sketches: what is to be drawn of a plan or a run, before anybody knows on what.
//!
//! A sketch is a tree of nodes with edges between neighbours of one level. A node that holds others is a group: the
//! region of a composite, drawn as a box with a title. Everything that plans and runs know about regions ends here;
//! the forms (SVG, DOT, Mermaid, JSON, tracks for a terminal) see only sketches.
//!
//! ```text
//! plan ─┐             ┌──► layout ──► svg, json
//!       ├──► sketch ──┼──► dot, mermaid
//! run ──┘             └──► tracks ──► a terminal
//! ```

pub mod layout;
pub mod tracks;

mod dot;
mod json;
mod measure;
mod mermaid;
mod nested;
mod note;
mod of_plan;
mod of_run;
mod safe;
mod svg;
mod tally;

pub use json::Drawing;

use crate::id::RunId;
use crate::plan::{Accepts, Resolution};
use crate::state::{Phase, RunState};

/// What is to be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sketch {
    /// The flow's name.
    pub title: String,
    /// Which run it shows; `None` for a plan.
    pub run: Option<Head>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// The run that a sketch shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Which run.
    pub id: RunId,
    /// Where it is.
    pub state: RunState,
    /// Whether it is paused.
    pub paused: bool,
    /// Nodes of the root that are done.
    pub done: u32,
    /// Nodes of the root.
    pub total: u32,
}

/// One box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Unique in the sketch: `build`, or `load.fetch` within a group.
    pub id: String,
    /// What stands in the box, or as the title of the group.
    pub label: String,
    /// What it is.
    pub kind: NodeKind,
    /// One small line: what it does.
    pub note: String,
    /// The group it is in.
    pub inside: Option<u32>,
    /// How it is doing; `None` in a plan.
    pub now: Option<Now>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Done by a worker.
    Action,
    /// Done by the command runner.
    Command,
    /// A wait on the world.
    Gate,
    /// A run of another flow.
    SubRun,
    /// Once for each item.
    Spread,
    /// Another composite, by its word: `if`, `for`, `try`.
    Composite(&'static str),
}

impl NodeKind {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Command => "command",
            Self::Gate => "gate",
            Self::SubRun => "flow",
            Self::Spread => "spread",
            Self::Composite(word) => word,
        }
    }
}

/// How a node of a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// What people see of its state. Of a node with many tasks: what is still to be waited for, else the worst of it.
    pub phase: Phase,
    /// Attempts made; 0 if it has none.
    pub attempt: u16,
    /// Attempts it may have.
    pub max_attempts: u16,
    /// How many of its tasks have come how far, where it stands for many.
    pub count: Option<Count>,
}

/// How far many have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Ended, well or badly.
    pub done: u32,
    /// Of those, ended badly.
    pub failed: u32,
    /// At work.
    pub running: u32,
    /// All.
    pub total: u32,
}

/// "`to` needs `from`". Both are in the same group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The upstream node.
    pub from: u32,
    /// The downstream node.
    pub to: u32,
    /// What is accepted.
    pub accepts: Accepts,
    /// How it ended; `None` while it is open, in a plan, and where many edges ended differently.
    pub resolution: Option<Resolution>,
}

impl Edge {
    /// What stands at the edge: nothing for plain success.
    pub fn label(&self) -> String {
        match self.accepts {
            Accepts::SUCCESS => String::new(),
            Accepts::DONE => "done".into(),
            several => accepted(several).join(" or "),
        }
    }
}

/// A set of resolutions in the words of flows.
fn accepted(accepts: Accepts) -> Vec<&'static str> {
    let words = Resolution::ALL.into_iter().zip(["ok", "failed", "skipped", "cancelled"]);
    words.filter(|(resolution, _)| accepts.contains(*resolution)).map(|(_, word)| word).collect()
}

impl Sketch {
    /// An empty one.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Adds a node; the group it is in must be there already.
    ///
    /// # Panics
    /// If there is no such group: whoever draws has lost count of its own nodes.
    pub fn add(&mut self, node: Node) -> u32 {
        let number = self.nodes.len() as u32;
        assert!(node.inside.is_none_or(|group| group < number), "node {:?} is in a group that is not there", node.id);
        self.nodes.push(node);
        number
    }

    /// Adds an edge between two nodes of the same group.
    ///
    /// # Panics
    /// If they are not: such an edge would have to cross the border of a box.
    pub fn join(&mut self, edge: Edge) {
        let inside = |node: u32| self.nodes[node as usize].inside;
        assert!(inside(edge.from) == inside(edge.to), "an edge crosses the border of a group");
        self.edges.push(edge);
    }

    /// All nodes; a group stands before what it holds.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Which nodes hold others.
    pub fn groups(&self) -> Vec<bool> {
        let mut holds = vec![false; self.nodes.len()];
        self.nodes.iter().filter_map(|node| node.inside).for_each(|group| holds[group as usize] = true);
        holds
    }
}

impl Head {
    /// `running, 5 of 12 done`
    pub fn sentence(&self) -> String {
        let paused = if self.paused { ", paused" } else { "" };
        format!("{}{paused}, {} of {} done", self.state.phase().word(), self.done, self.total)
    }
}

impl Node {
    /// The second line of a box: what it does, or what is worth knowing about how it goes.
    pub fn line(&self) -> String {
        let Some(now) = self.now else { return self.note.clone() };
        match now.count {
            Some(count) => count.sentence(),
            None if now.phase == Phase::Waiting && now.attempt > 0 => {
                format!("waits for attempt {} of {}", now.attempt + 1, now.max_attempts)
            }
            None if now.attempt > 1 => format!("{}, attempt {} of {}", now.phase.word(), now.attempt, now.max_attempts),
            None => now.phase.word().to_owned(),
        }
    }
}

impl Count {
    /// `12/40, 3 running, 1 failed`
    pub fn sentence(&self) -> String {
        let mut text = format!("{}/{}", self.done, self.total);
        for (count, what) in [(self.running, "running"), (self.failed, "failed")] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
