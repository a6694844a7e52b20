//! Making a plan: whatever is wrong with a graph is found here, before anything is written.

use super::region::Names;
use super::{Accepts, InEdge, Items, Join, OnFailure, OutEdge, Plan, Region, Spec, Work};
use crate::expr::Expr;
use crate::input::Input;
use crate::limits;
use crate::name::Name;
use crate::template::{Root, Template};

/// A plan in the making.
#[derive(Debug, Default)]
pub struct PlanDraft {
    /// What nodes are made of.
    pub specs: Vec<Spec>,
    /// The root first.
    pub regions: Vec<RegionDraft>,
    /// What a permanent failure does to the rest.
    pub on_failure: OnFailure,
    /// What a run must be given.
    pub inputs: Vec<Input>,
    /// The run's output.
    pub output: Option<Template>,
}

/// A region in the making.
#[derive(Debug, Default)]
pub struct RegionDraft {
    names: Names,
    specs: Vec<u32>,
    joins: Vec<Join>,
    edges: Vec<(u32, InEdge)>,
}

/// What is wrong with a plan, and at which node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The region it is in.
    pub region: u32,
    /// The node it concerns, if it is about one.
    pub node: Option<u32>,
    /// Stable and machine-readable, such as `cycle`.
    pub code: &'static str,
    /// What, why, and what next.
    pub message: String,
}

impl RegionDraft {
    /// Adds a node and gives its number.
    pub fn node(&mut self, name: &str, spec: u32, join: Join) -> u32 {
        self.names.push(name);
        self.specs.push(spec);
        self.joins.push(join);
        self.specs.len() as u32 - 1
    }

    /// Says that `down` needs `up`. Saying it twice is saying it once, with both sets accepted.
    pub fn edge(&mut self, up: u32, down: u32, accepts: Accepts) {
        self.edges.push((down, InEdge { up, accepts }));
    }

    /// How many nodes there are so far.
    pub fn len(&self) -> u32 {
        self.specs.len() as u32
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }
}

impl PlanDraft {
    /// Checks everything and lays the plan out; all problems are reported, not just the first.
    pub fn build(mut self, flow: Name) -> Result<Plan, Vec<Problem>> {
        let mut problems = Vec::new();
        self.check_size(&mut problems);
        self.check_regions(&mut problems);
        self.check_output(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut regions = Vec::with_capacity(self.regions.len());
        for (number, draft) in std::mem::take(&mut self.regions).into_iter().enumerate() {
            check_names(number as u32, &draft, &mut problems);
            let region = lay_out(number as u32, draft, &mut problems);
            regions.push(region);
        }
        if problems.is_empty() {
            for (number, region) in regions.iter().enumerate() {
                check_joins(number as u32, region, &mut problems);
                check_cycles(number as u32, region, &mut problems);
            }
        }
        if !problems.is_empty() {
            problems.truncate(limits::PROBLEMS);
            return Err(problems);
        }
        let Self { specs, on_failure, inputs, output, .. } = self;
        Ok(Plan { flow, on_failure, specs, regions, inputs, output })
    }

    fn check_size(&self, problems: &mut Vec<Problem>) {
        let nodes: usize = self.regions.iter().map(|r| r.specs.len()).sum();
        let edges: usize = self.regions.iter().map(|r| r.edges.len()).sum();
        let text: usize = self.regions.iter().map(|r| r.names.iter().map(str::len).sum::<usize>()).sum();
        let mut say = |code, message| problems.push(Problem { region: 0, node: None, code, message });
        if self.regions.first().is_none_or(RegionDraft::is_empty) {
            say("no_tasks", "a flow needs at least one task".into());
        }
        if nodes > limits::PLAN_NODES {
            say("too_many_tasks", format!("the plan has {nodes} nodes, at most {} are allowed", limits::PLAN_NODES));
        }
        if edges > limits::PLAN_EDGES {
            say("too_many_edges", format!("the plan has {edges} edges, at most {} are allowed", limits::PLAN_EDGES));
        }
        if text > u32::MAX as usize {
            say("too_many_tasks", "the names of the plan's nodes are too long together".into());
        }
    }

    /// The run's output stands in the root region, outside of every spread.
    fn check_output(&self, problems: &mut Vec<Problem>) {
        let nodes = self.regions.first().map_or(0, RegionDraft::len);
        let Some(output) = &self.output else { return };
        output.expressions(&mut |expr| {
            expr.roots(&mut |root| {
                let ok = match root {
                    Root::Input => true,
                    Root::Output { up, node } => *up == 0 && *node < nodes,
                    Root::Item { .. } => false,
                };
                if !ok {
                    let message = format!("{root:?} names nothing that the run's output can use");
                    problems.push(Problem { region: 0, node: None, code: "unknown_reference", message });
                }
            });
        });
    }

    /// Every region but the root belongs to exactly one composite, in a region before it; references stay inside the plan.
    fn check_regions(&self, problems: &mut Vec<Problem>) {
        let mut parents: Vec<Option<u32>> = vec![None; self.regions.len()];
        for (number, region) in self.regions.iter().enumerate() {
            for (node, spec) in region.specs.iter().enumerate() {
                let mut say = |code, message: String| {
                    problems.push(Problem { region: number as u32, node: Some(node as u32), code, message });
                };
                let Some(spec) = self.specs.get(*spec as usize) else {
                    say("no_spec", format!("node {node} names spec {spec}, which is not in the plan"));
                    continue;
                };
                if spec.retry.max_attempts == 0 || spec.retry.max_attempts > limits::MAX_ATTEMPTS {
                    say(
                        "bad_max_attempts",
                        format!(
                            "max_attempts counts the first attempt, so it is 1 to {}, not {}",
                            limits::MAX_ATTEMPTS,
                            spec.retry.max_attempts
                        ),
                    );
                }
                if let Work::Action { action, .. } = &spec.work
                    && action.starts_with("edgewise/")
                {
                    say("reserved_name", format!("`{action}` is ours: names of actions do not start with `edgewise/`"));
                }
                if let Work::Spread(spread) = &spec.work {
                    match parents.get_mut(spread.region as usize) {
                        Some(parent) if parent.is_none() && spread.region as usize > number => {
                            *parent = Some(number as u32);
                        }
                        _ => say(
                            "bad_region",
                            format!("region {} must belong to one composite, in a region before it", spread.region),
                        ),
                    }
                }
            }
        }
        for (number, parent) in parents.iter().enumerate().skip(1) {
            if parent.is_none() {
                problems.push(Problem {
                    region: number as u32,
                    node: None,
                    code: "bad_region",
                    message: format!("region {number} belongs to no composite"),
                });
            }
        }
        if !problems.is_empty() {
            return;
        }
        for (number, region) in self.regions.iter().enumerate() {
            let mut chain = vec![number as u32];
            while chain.len() <= limits::REGION_DEPTH
                && let Some(parent) = parents[chain[chain.len() - 1] as usize]
            {
                chain.push(parent);
            }
            if chain.len() > limits::REGION_DEPTH {
                problems.push(Problem {
                    region: number as u32,
                    node: None,
                    code: "too_deep",
                    message: format!("regions are nested deeper than the {} allowed", limits::REGION_DEPTH),
                });
            }
            for (node, spec) in region.specs.iter().enumerate() {
                let mut bad = None;
                self.specs[*spec as usize].work.roots(&mut |root| {
                    let ok = match root {
                        Root::Input => true,
                        Root::Output { up, node } => {
                            chain.get(*up as usize).is_some_and(|c| *node < self.regions[*c as usize].len())
                        }
                        Root::Item { up } => (*up as usize) + 1 < chain.len(),
                    };
                    if !ok {
                        bad = Some(format!("{root:?} names nothing in this plan"));
                    }
                });
                if let Some(message) = bad {
                    problems.push(Problem {
                        region: number as u32,
                        node: Some(node as u32),
                        code: "unknown_reference",
                        message,
                    });
                }
            }
        }
    }
}

impl Work {
    /// Calls `see` with every expression of the work.
    pub fn expressions(&self, see: &mut dyn FnMut(&Expr)) {
        match self {
            Work::Action { with, .. } => with.expressions(see),
            Work::Command(command) => command.env.iter().for_each(|(_, t)| t.expressions(see)),
            Work::Gate(_) => {}
            Work::Spread(spread) => {
                if let Items::Expr(expr) = &spread.items {
                    see(expr);
                }
            }
        }
    }

    /// Calls `see` with every root that the work's expressions start from.
    pub fn roots(&self, see: &mut dyn FnMut(&Root)) {
        self.expressions(&mut |expr| expr.roots(see));
    }
}

fn check_names(number: u32, draft: &RegionDraft, problems: &mut Vec<Problem>) {
    let mut order: Vec<u32> = (0..draft.len()).collect();
    order.sort_by_key(|n| draft.names.get(*n));
    for pair in order.windows(2) {
        let name = draft.names.get(pair[0]);
        if name == draft.names.get(pair[1]) {
            problems.push(Problem {
                region: number,
                node: Some(pair[1]),
                code: "duplicate_name",
                message: format!("the name `{name}` is used twice"),
            });
        }
    }
    for node in 0..draft.len() {
        if let Err(error) = Name::parse(draft.names.get(node)) {
            problems.push(Problem { region: number, node: Some(node), code: "bad_name", message: error.message });
        }
    }
}

fn lay_out(number: u32, draft: RegionDraft, problems: &mut Vec<Problem>) -> Region {
    let nodes = draft.specs.len();
    let mut edges = draft.edges;
    // Stable: within a node the author's order stays.
    edges.sort_by_key(|(down, _)| *down);
    let mut in_edges: Vec<InEdge> = Vec::with_capacity(edges.len());
    let mut in_start = vec![0u32; nodes + 1];
    let mut last = vec![(u32::MAX, 0u32); nodes];
    for (down, edge) in edges {
        let mut say = |code, message| problems.push(Problem { region: number, node: Some(down), code, message });
        if down as usize >= nodes || edge.up as usize >= nodes {
            say("unknown_name", format!("edge {} -> {down} names a node that does not exist", edge.up));
            continue;
        }
        if edge.up == down {
            say(
                "self_edge",
                format!("`{0}` cannot wait for itself: remove `{0}` from its own `after`", draft.names.get(down)),
            );
            continue;
        }
        if edge.accepts.is_invalid() {
            say("bad_accepts", "an edge must accept at least one of ok, failed, skipped, cancelled".into());
            continue;
        }
        // The place of this upstream's edge, if it was last said for the same downstream.
        let (said_for, place) = &mut last[edge.up as usize];
        if *said_for == down {
            let same: &mut InEdge = &mut in_edges[*place as usize];
            same.accepts = same.accepts.or(edge.accepts);
        } else {
            (*said_for, *place) = (down, in_edges.len() as u32);
            in_edges.push(edge);
            in_start[down as usize + 1] += 1;
        }
    }
    for node in 0..nodes {
        in_start[node + 1] += in_start[node];
    }
    let (out_start, out_edges) = reverse(nodes, &in_start, &in_edges);
    Region { names: draft.names, specs: draft.specs, joins: draft.joins, in_start, in_edges, out_start, out_edges }
}

pub(super) fn reverse(nodes: usize, in_start: &[u32], in_edges: &[InEdge]) -> (Vec<u32>, Vec<OutEdge>) {
    let mut out_start = vec![0u32; nodes + 1];
    for edge in in_edges {
        out_start[edge.up as usize + 1] += 1;
    }
    for node in 0..nodes {
        out_start[node + 1] += out_start[node];
    }
    let mut next = out_start.clone();
    let mut out_edges = vec![OutEdge { down: 0, edge: 0 }; in_edges.len()];
    for down in 0..nodes {
        for edge in in_start[down]..in_start[down + 1] {
            let place = &mut next[in_edges[edge as usize].up as usize];
            out_edges[*place as usize] = OutEdge { down: down as u32, edge };
            *place += 1;
        }
    }
    (out_start, out_edges)
}

fn check_joins(number: u32, region: &Region, problems: &mut Vec<Problem>) {
    for node in 0..region.len() {
        let degree = region.in_degree(node);
        if let Join::Count(n) = region.join(node)
            && (n == 0 || n > degree)
        {
            let message =
                format!("`join: {n}` of `{}` must be between 1 and its {degree} upstream tasks", region.name(node));
            problems.push(Problem { region: number, node: Some(node), code: "bad_join", message });
        }
    }
}

/// Kahn's order; what is left over is on or behind a cycle, and one cycle of it is named.
fn check_cycles(number: u32, region: &Region, problems: &mut Vec<Problem>) {
    let nodes = region.len();
    let mut open: Vec<u32> = (0..nodes).map(|n| region.in_degree(n)).collect();
    let mut queue: Vec<u32> = (0..nodes).filter(|n| open[*n as usize] == 0).collect();
    let mut seen = 0;
    while let Some(node) = queue.pop() {
        seen += 1;
        for out in region.needed_by(node) {
            open[out.down as usize] -= 1;
            if open[out.down as usize] == 0 {
                queue.push(out.down);
            }
        }
    }
    if seen == nodes {
        return;
    }
    // Walk upstream within what is left until a node comes again: that is a cycle.
    let start = (0..nodes).find(|n| open[*n as usize] > 0).unwrap_or(0);
    let mut trail = vec![start];
    let mut place = vec![u32::MAX; nodes as usize];
    let cycle = loop {
        let last = trail[trail.len() - 1];
        let Some((_, edge)) = region.needs(last).find(|(_, e)| open[e.up as usize] > 0) else { break trail };
        place[last as usize] = trail.len() as u32 - 1;
        if place[edge.up as usize] != u32::MAX {
            break trail.split_off(place[edge.up as usize] as usize);
        }
        trail.push(edge.up);
    };
    let mut names: Vec<&str> = cycle.iter().take(20).map(|n| region.name(*n)).collect();
    if cycle.len() > names.len() {
        names.push("…");
    }
    names.push(region.name(cycle[0]));
    let message =
        format!("these tasks wait for each other in a circle: {}; remove one of the edges", names.join(" -> "));
    problems.push(Problem { region: number, node: Some(cycle[0]), code: "cycle", message });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Command;

    fn draft(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> PlanDraft {
        let work = Work::Command(Command { script: "true".into(), ..Command::default() });
        let spec = Spec { work, retry: Default::default(), timeouts: Default::default() };
        let mut region = RegionDraft::default();
        for node in 0..nodes {
            region.node(&format!("n{node}"), 0, Join::All);
        }
        for (up, down) in edges {
            region.edge(up, down, Accepts::SUCCESS);
        }
        PlanDraft { specs: vec![spec], regions: vec![region], ..PlanDraft::default() }
    }

    #[test]
    fn saying_an_edge_twice_is_saying_it_once_with_both_sets() {
        let mut draft = draft(3, [(0, 2), (1, 2), (0, 2), (0, 1)]);
        draft.regions[0].edge(0, 2, Accepts::of(super::super::Resolution::Failed));
        let plan = draft.build(Name::parse("f").unwrap()).unwrap();
        let root = plan.root();
        assert_eq!((root.edge_count(), root.in_degree(2)), (3, 2));
        let ups: Vec<(u32, bool)> = root.needs(2).map(|(_, e)| (e.up, e.accepts.handles_failure())).collect();
        assert_eq!(ups, [(0, false), (1, false)], "in the author's order");
        assert!(root.edge(1).accepts.contains(super::super::Resolution::Failed));
    }

    #[test]
    fn a_long_cycle_and_a_wide_join_are_no_more_work_than_their_edges() {
        // A quadratic walk would need 10^10 steps for each of these.
        const N: u32 = 100_000;
        let problems = draft(N, (0..N).map(|n| (n, (n + 1) % N))).build(Name::parse("f").unwrap()).unwrap_err();
        assert_eq!(problems[0].code, "cycle");
        let plan = draft(N, (0..N - 1).chain(0..N - 1).map(|n| (n, N - 1))).build(Name::parse("f").unwrap()).unwrap();
        assert_eq!(plan.root().in_degree(N - 1), N - 1);
    }

    #[test]
    fn an_output_that_names_nothing_is_refused() {
        let mut draft = draft(1, []);
        let root = Root::Output { up: 0, node: 1 };
        draft.output = Some(Template::Expr(Expr::root("tasks.x.output", root, &[])));
        assert_eq!(draft.build(Name::parse("f").unwrap()).unwrap_err()[0].code, "unknown_reference");
    }
}
