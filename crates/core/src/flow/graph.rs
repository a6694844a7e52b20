//! From tasks to a plan: nodes, edges, shared specs, one region for each spread.

use super::problem::Sink;
use super::source::Span;
use super::task::Task;
use crate::input::Input;
use crate::limits;
use crate::mark::mark_of;
use crate::name::Name;
use crate::plan::{
    Join, Naming, OnFailure, Plan, PlanDraft, Publish, RegionDraft, Share, Spec, Spread, Timeouts, Work,
};
use crate::recent::Recent;
use crate::retry::Retry;
use crate::template::Template;
use std::collections::{BTreeMap, BTreeSet};

/// Longest stored form of a spec that is looked up before it is hashed.
const SHORT: usize = 256;

/// A plan in the making, with the places its parts come from.
pub(super) struct Graph {
    specs: Vec<Spec>,
    /// Specs by the hash of their stored form: ten thousand tasks that do the same share one.
    shared: BTreeMap<[u8; 32], u32>,
    /// The short ones among them that came last, by their stored form itself.
    recent: Recent<(Box<[u8]>, u32)>,
    /// The stored form of the spec that is being added.
    stored: Vec<u8>,
    /// How many bytes of specs were made; the defaults of a small file could multiply beyond all bounds.
    bytes: usize,
    regions: Vec<RegionDraft>,
    /// For each node of the root where its name and its join stand.
    places: Vec<(Span, Option<Span>)>,
    /// For each region the root's node that it belongs to.
    owners: Vec<u32>,
}

/// What a plan has besides its graph.
pub(super) struct Head {
    pub(super) flow: Name,
    pub(super) naming: Naming,
    pub(super) inputs: Vec<Input>,
    pub(super) on_failure: OnFailure,
    pub(super) output: Option<Template>,
    pub(super) publish: Vec<Publish>,
}

impl Graph {
    pub(super) fn new() -> Self {
        Self {
            specs: Vec::new(),
            shared: BTreeMap::new(),
            recent: Recent::default(),
            stored: Vec::new(),
            bytes: 0,
            regions: vec![RegionDraft::default()],
            places: Vec::new(),
            owners: vec![0],
        }
    }

    /// Adds a task; the caller adds them in the order of their nodes. Says no when the plan has become too large.
    pub(super) fn add(&mut self, name: &str, at: Span, mut task: Task) -> bool {
        let node = self.places.len() as u32;
        if task.each.is_none() {
            task.spec.when = task.when.take();
        }
        let mut spec = self.share(task.spec);
        if let Some(each) = task.each {
            let region = self.regions.len() as u32;
            let mut inner = RegionDraft::default();
            inner.node(name, spec, Join::All);
            self.regions.push(inner);
            self.owners.push(node);
            let spread = Spread { region, items: each.items, tolerate: each.tolerate, fail_fast: each.fail_fast };
            let work = Work::Spread(spread);
            // No two spreads are the same: each has its own region.
            self.specs.push(Spec {
                when: task.when,
                work,
                retry: Retry::default(),
                timeouts: Timeouts::default(),
                share: Share::default(),
                publish: Vec::new(),
            });
            spec = self.specs.len() as u32 - 1;
        }
        self.regions[0].node(name, spec, task.join);
        self.places.push((at, task.join_at));
        // Whoever uses nothing need not know what was said.
        let said = if task.uses.is_empty() { &[] } else { &*task.edges };
        let said: BTreeSet<u32> = said.iter().map(|(up, _)| *up).collect();
        for (up, accepts) in task.edges {
            self.regions[0].edge(up, node, accepts);
        }
        for up in task.uses.into_iter().filter(|up| !said.contains(up)) {
            self.regions[0].edge(up, node, crate::plan::Accepts::SUCCESS);
        }
        self.bytes <= limits::PLAN_BYTES
    }

    fn share(&mut self, spec: Spec) -> u32 {
        self.stored.clear();
        // Nothing in a spec cannot be said in JSON, and writing into memory cannot fail.
        let _ = serde_json::to_writer(&mut self.stored, &spec);
        self.bytes += self.stored.len();
        let short = Some(&self.stored).filter(|bytes| bytes.len() <= SHORT);
        let mark = short.map(|bytes| mark_of(bytes));
        let known = mark.and_then(|mark| self.recent.get(mark, |(bytes, _)| **bytes == *self.stored));
        if let Some((_, number)) = known {
            return *number;
        }
        let next = self.specs.len() as u32;
        let number = *self.shared.entry(*blake3::hash(&self.stored).as_bytes()).or_insert(next);
        if number == next {
            self.specs.push(spec);
        }
        if let Some(mark) = mark {
            self.recent.put(mark, (self.stored.as_slice().into(), number));
        }
        number
    }

    /// Checks the whole graph; what is wrong with it is said at the task concerned.
    pub(super) fn build(self, head: Head, sink: &mut Sink<'_>) -> Option<Plan> {
        let Self { specs, regions, places, owners, .. } = self;
        if places.is_empty() {
            return None;
        }
        let Head { flow, naming, inputs, on_failure, output, publish } = head;
        let draft = PlanDraft { specs, regions, on_failure, inputs, output, naming, publish };
        let problems = match draft.build(flow) {
            Ok(plan) => return Some(plan),
            Err(problems) => problems,
        };
        for problem in problems {
            let node = match problem.region {
                0 => problem.node,
                region => owners.get(region as usize).copied(),
            };
            let place = node.and_then(|n| places.get(n as usize)).or(places.first());
            let span = place.map_or(Span::at(1, 1, 1), |(name, join)| match problem.code {
                "bad_join" => join.unwrap_or(*name),
                _ => *name,
            });
            sink.error(span, problem.code, problem.message);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Command;

    #[test]
    fn a_small_file_cannot_make_a_plan_beyond_all_bounds() {
        let mut graph = Graph::new();
        // As if the defaults had been said again and again.
        graph.bytes = limits::PLAN_BYTES - 1_000;
        let mut add = |name: &str| {
            let work = Work::Command(Command { script: "x".repeat(600), ..Command::default() });
            let spec = Spec {
                when: None,
                work,
                retry: Retry::default(),
                timeouts: Timeouts::default(),
                share: Share::default(),
                publish: Vec::new(),
            };
            let (edges, uses, join) = (Vec::new(), Vec::new(), Join::All);
            graph.add(name, Span::default(), Task { spec, each: None, when: None, edges, uses, join, join_at: None })
        };
        assert!(add("a"));
        assert!(!add("b"), "shared, but made");
    }
}
