//! From a plan to a sketch: a node each, and a group for each composite whose region is worth opening.
//!
//! The nodes and edges of one region stand together and in the plan's order, so that the node of a task is found by
//! adding two numbers. A new kind of composite has to be taught only to [`Drawn::open`].

use super::{Edge, Node, NodeKind, Sketch, note};
use crate::plan::{Accepts, Plan, ROOT, Region, Work};

/// The box of an arm, a body or a handler.
pub(super) const ARM: NodeKind = NodeKind::Composite("arm");

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

    /// The same, with what each node of it does; nothing for the box of an arm.
    pub fn of_plan_with_work(plan: &Plan) -> (Self, Vec<Option<&Work>>) {
        let Drawn { sketch, first, .. } = Drawn::of(plan);
        let mut works = vec![None; sketch.nodes.len()];
        for (region, first) in plan.regions.iter().zip(first) {
            let Some((first, _)) = first else { continue };
            for node in 0..region.len() {
                works[(first + node) as usize] = Some(&plan.specs[region.spec(node) as usize].work);
            }
        }
        (sketch, works)
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
            self.node(region, node, inside);
        }
        // The boxes of arms come after the nodes, which must stand together.
        for node in 0..region.len() {
            self.open(region, node, first + node, open);
        }
        if region.script().is_some() {
            for node in 1..region.len() {
                let (from, to) = (first + node - 1, first + node);
                self.sketch.join(Edge { from, to, accepts: Accepts::SUCCESS, resolution: None });
            }
        }
        for node in 0..region.len() {
            for (_, need) in region.needs(node) {
                let (from, to) = (first + need.up, first + node);
                self.sketch.join(Edge { from, to, accepts: need.accepts, resolution: None });
            }
        }
    }

    /// The regions of a composite that are drawn within its box; where there are several, each in a box of its own.
    fn open(&mut self, region: &Region, node: u32, made: u32, open: &mut Vec<(u32, Option<u32>)>) {
        let work = &self.plan.specs[region.spec(node) as usize].work;
        if matches!(work, Work::Spread(spread) if note::inner(self.plan, spread).is_some()) {
            return;
        }
        let several = matches!(work, Work::Branch(_) | Work::Try(_) | Work::Parallel(_));
        for (index, within) in (0..).zip(work.regions()) {
            if self.plan.regions[within as usize].is_empty() {
                // Nothing but inline work: there is nothing to wait for and nothing to draw.
                continue;
            }
            let group = if several { self.arm(work, index, made) } else { made };
            open.push((within, Some(group)));
        }
    }

    fn arm(&mut self, work: &Work, index: u32, inside: u32) -> u32 {
        let label = note::arm(work, index);
        let id = format!("{}[{index}]", self.sketch.nodes[inside as usize].id);
        self.sketch.add(Node { id, label, kind: ARM, note: String::new(), inside: Some(inside), now: None })
    }

    fn node(&mut self, region: &Region, node: u32, inside: Option<u32>) {
        let name = region.name(node);
        let id = match inside {
            Some(group) => format!("{}.{name}", self.sketch.nodes[group as usize].id),
            None => name.to_owned(),
        };
        let kind = note::kind(&self.plan.specs[region.spec(node) as usize]);
        let note = note::note(self.plan, region, node);
        self.sketch.add(Node { id, label: name.to_owned(), kind, note, inside, now: None });
    }
}
