//! Making a plan: whatever is wrong with a graph is found here, before anything is written.

use super::region::Names;
use super::{Accepts, InEdge, Join, Naming, OnFailure, OutEdge, Plan, Publish, Region, Spec, Statement, Tells};
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
    /// How its runs are told apart and found.
    pub naming: Naming,
    /// What the outside world is told when a run ends.
    pub publish: Vec<Publish>,
}

/// A region in the making.
#[derive(Debug, Default)]
pub struct RegionDraft {
    pub(super) names: Names,
    pub(super) specs: Vec<u32>,
    pub(super) joins: Vec<Join>,
    pub(super) edges: Vec<(u32, InEdge)>,
    /// The statements, if it is a chain; then it has no edges.
    pub script: Option<Vec<Statement>>,
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
    /// A chain without statements.
    pub fn chain() -> Self {
        Self { script: Some(Vec::new()), ..Self::default() }
    }

    /// Adds a node and gives its number.
    pub fn node(&mut self, name: &str, spec: u32, join: Join) -> u32 {
        self.numbered(name, 1, spec, join)
    }

    /// The same for the `time`th node of a name; all but the first have their number in their own.
    pub(crate) fn numbered(&mut self, name: &str, time: u32, spec: u32, join: Join) -> u32 {
        self.names.push(name, time);
        self.specs.push(spec);
        self.joins.push(join);
        self.specs.len() as u32 - 1
    }

    /// Says that `down` needs `up`. Saying it twice is saying it once, with both sets accepted.
    pub fn edge(&mut self, up: u32, down: u32, accepts: Accepts) {
        self.edges.push((down, InEdge { up, accepts }));
    }

    /// The number of a node's spec.
    pub(crate) fn spec_of(&self, node: u32) -> u32 {
        self.specs[node as usize]
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
        self.check_stored(&mut problems);
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
        let Self { specs, on_failure, inputs, output, naming, publish, .. } = self;
        let tells = Tells::of(&publish, &specs);
        Ok(Plan { flow, naming, on_failure, specs, regions, inputs, output, publish, tells })
    }

    fn check_size(&self, problems: &mut Vec<Problem>) {
        let nodes: usize = self.regions.iter().map(|r| r.specs.len()).sum();
        let edges: usize = self.regions.iter().map(|r| r.edges.len()).sum();
        let text: usize = self.regions.iter().map(|r| r.names.iter().map(str::len).sum::<usize>()).sum();
        let mut say = |code, message| problems.push(Problem { region: 0, node: None, code, message });
        if self.regions.first().is_none_or(|root| root.is_empty() && root.script.is_none()) {
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
        let told = self.publish.iter().filter_map(|one| one.payload.as_ref());
        let mut see = |expr: &crate::expr::Expr| {
            expr.roots(&mut |root| {
                let ok = match root {
                    Root::Input => true,
                    Root::Output { up, node } => *up == 0 && *node < nodes,
                    Root::Item { .. } | Root::Var(_) | Root::Secret(_) => false,
                };
                if !ok {
                    let message = format!("{root:?} names nothing that the run's output can use");
                    problems.push(Problem { region: 0, node: None, code: "unknown_reference", message });
                }
            });
        };
        self.output.iter().chain(told).for_each(|template| template.expressions(&mut see));
    }
}

fn check_names(number: u32, draft: &RegionDraft, problems: &mut Vec<Problem>) {
    if draft.names.repeat() {
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
    }
    for node in 0..draft.len() {
        if let Err(error) = Name::check(draft.names.get(node)) {
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
    // A program may have a hundred thousand regions without a node.
    let mut in_start = if nodes == 0 { Vec::new() } else { vec![0u32; nodes + 1] };
    let mut last = if edges.is_empty() { Vec::new() } else { vec![(u32::MAX, 0u32); nodes] };
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
    let script = draft.script;
    let statements = (0..).zip(script.iter().flatten());
    let started_at = statements.filter_map(|(at, s): (u32, &Statement)| s.node().map(|_| at)).collect();
    let (names, specs, joins) = (draft.names, draft.specs, draft.joins);
    Region { names, specs, joins, in_start, in_edges, out_start, out_edges, script, started_at }
}

pub(super) fn reverse(nodes: usize, in_start: &[u32], in_edges: &[InEdge]) -> (Vec<u32>, Vec<OutEdge>) {
    if nodes == 0 {
        return Default::default();
    }
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
    if region.edge_count() == 0 {
        return;
    }
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
    use crate::expr::Expr;
    use crate::plan::{Command, Work};

    fn draft(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> PlanDraft {
        let work = Work::Command(Command { script: "true".into(), ..Command::default() });
        let spec = Spec {
            when: None,
            work,
            retry: Default::default(),
            timeouts: Default::default(),
            share: Default::default(),
            publish: Vec::new(),
        };
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
