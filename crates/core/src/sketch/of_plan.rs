//! From a plan to a sketch: a node each, and a group for each composite whose region is worth opening.
//!
//! The nodes and edges of one region stand together and in the plan's order, so that the node of a task is found by
//! adding two numbers. A new kind of composite has to be taught only to [`Drawn::opens`].

use super::{Edge, Node, Sketch, note};
use crate::plan::{Plan, ROOT, Region, Work};

/// A sketch, and where each region begins in it.
pub(super) struct Drawn<'p> {
    pub plan: &'p Plan,
    pub sketch: Sketch,
    /// The first node and the first edge of each region that was opened.
    pub first: Vec<Option<(u32, u32)>>,
}

impl Sketch {
    /// What is to be drawn of a plan.
    pub fn of_plan(plan: &Plan) -> Self {
        Drawn::of(plan).sketch
    }
}

impl<'p> Drawn<'p> {
    pub fn of(plan: &'p Plan) -> Self {
        let sketch = Sketch::new(plan.flow.as_str());
        let mut drawn = Self { plan, sketch, first: vec![None; plan.regions.len()] };
        // A list instead of a recursion: how deep a plan is nested is the author's choice.
        let mut open = vec![(ROOT, None)];
        let mut at = 0;
        while let Some((region, inside)) = open.get(at).copied() {
            at += 1;
            // A region that is used twice would be drawn within itself or over and over.
            if drawn.first[region as usize].is_none() {
                drawn.region(region, inside, &mut open);
            }
        }
        drawn
    }

    fn region(&mut self, number: u32, inside: Option<u32>, open: &mut Vec<(u32, Option<u32>)>) {
        let region = &self.plan.regions[number as usize];
        let first = self.sketch.nodes.len() as u32;
        self.first[number as usize] = Some((first, self.sketch.edges.len() as u32));
        for node in 0..region.len() {
            let made = self.node(region, node, inside);
            open.extend(self.opens(region, node).map(|within| (within, Some(made))));
        }
        for node in 0..region.len() {
            for (_, need) in region.needs(node) {
                let (from, to) = (first + need.up, first + node);
                self.sketch.join(Edge { from, to, accepts: need.accepts, resolution: None });
            }
        }
    }

    /// The region of a composite that is drawn as a box of its own.
    fn opens(&self, region: &Region, node: u32) -> Option<u32> {
        match &self.plan.specs[region.spec(node) as usize].work {
            Work::Spread(spread) => note::inner(self.plan, spread).is_none().then_some(spread.region),
            Work::Action { .. } | Work::Command(_) | Work::Gate(_) => None,
        }
    }

    fn node(&mut self, region: &Region, node: u32, inside: Option<u32>) -> u32 {
        let name = region.name(node);
        let id = match inside {
            Some(group) => format!("{}.{name}", self.sketch.nodes[group as usize].id),
            None => name.to_owned(),
        };
        let kind = note::kind(&self.plan.specs[region.spec(node) as usize]);
        let note = note::note(self.plan, region, node);
        self.sketch.add(Node { id, label: name.to_owned(), kind, note, inside, now: None })
    }
}
