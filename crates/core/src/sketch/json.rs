//! JSON: everything a program needs to draw the picture itself, with our own places to begin from.

use super::layout::{Direction, Point, Rect};
use super::{Head, Sketch, accepted, svg};
use crate::id::RunId;
use crate::plan::Resolution;
use crate::state::{Phase, RunState};
use serde::Serialize;

/// A sketch for programs. Places are pixels from the upper left corner of the canvas.
#[derive(Debug, Serialize)]
pub struct Drawing<'a> {
    flow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunFacts>,
    direction: &'static str,
    width: i32,
    height: i32,
    nodes: Vec<Placed<'a>>,
    groups: Vec<Placed<'a>>,
    edges: Vec<Joined<'a>>,
}

#[derive(Debug, Serialize)]
struct RunFacts {
    id: RunId,
    state: RunState,
    phase: Phase,
    paused: bool,
    done: u32,
    total: u32,
}

#[derive(Debug, Serialize)]
struct Placed<'a> {
    id: &'a str,
    label: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<Phase>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<Counted>,
    layer: u32,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

#[derive(Debug, Serialize)]
struct Counted {
    done: u32,
    failed: u32,
    running: u32,
    total: u32,
}

#[derive(Debug, Serialize)]
struct Joined<'a> {
    from: &'a str,
    to: &'a str,
    accepts: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<Resolution>,
    points: Vec<[i32; 2]>,
}

impl Sketch {
    /// The sketch with its places, to be written as JSON.
    pub fn to_drawing(&self) -> Drawing<'_> {
        let laid = svg::lay(self);
        let holds = self.groups();
        let all = |group: bool| {
            let numbers = (0..self.nodes().len()).filter(|n| holds[*n] == group);
            numbers.map(|n| self.placed(n, laid.layout.boxes[n], laid.layout.layers[n])).collect()
        };
        let id = |node: u32| self.nodes()[node as usize].id.as_str();
        let edges = self.edges().iter().enumerate().map(|(number, edge)| Joined {
            from: id(edge.from),
            to: id(edge.to),
            accepts: accepted(edge.accepts),
            resolution: edge.resolution,
            points: laid.layout.route(number).iter().map(|Point { x, y }| [*x, *y]).collect(),
        });
        Drawing {
            flow: &self.title,
            run: self.run.as_ref().map(facts),
            direction: if laid.direction == Direction::Down { "down" } else { "right" },
            width: laid.layout.size.width,
            height: laid.layout.size.height,
            nodes: all(false),
            groups: all(true),
            edges: edges.collect(),
        }
    }

    fn placed(&self, number: usize, at: Rect, layer: u32) -> Placed<'_> {
        let node = &self.nodes()[number];
        let counted = |c: super::Count| Counted { done: c.done, failed: c.failed, running: c.running, total: c.total };
        let tried = node.now.filter(|now| now.max_attempts > 0);
        Placed {
            id: &node.id,
            label: &node.label,
            kind: node.kind.word(),
            note: &node.note,
            group: node.inside.map(|group| self.nodes()[group as usize].id.as_str()),
            phase: node.now.map(|now| now.phase),
            attempt: tried.map(|now| now.attempt),
            max_attempts: tried.map(|now| now.max_attempts),
            count: node.now.and_then(|now| now.count).map(counted),
            layer,
            x: at.x,
            y: at.y,
            width: at.size.width,
            height: at.size.height,
        }
    }
}

fn facts(head: &Head) -> RunFacts {
    RunFacts {
        id: head.id,
        state: head.state,
        phase: head.state.phase(),
        paused: head.paused,
        done: head.done,
        total: head.total,
    }
}
