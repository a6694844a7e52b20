//! The loads: what shape of work is run.

use edgewise_core::name::Name;
use edgewise_core::plan::{Accepts, Items, Join, Plan, PlanDraft, RegionDraft, Share, Spec, Spread, Timeouts, Work};
use edgewise_core::retry::Retry;
use edgewise_core::template::Template;
use edgewise_core::{Error, Result};

/// A load: so many runs of one plan.
pub struct Load {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How many runs.
    pub runs: u32,
    /// How many tasks each run comes to.
    pub tasks: u32,
    /// How many attempts at once.
    pub slots: u32,
    plan: fn() -> PlanDraft,
}

/// All loads, in the order in which they are run.
pub const LOADS: [Load; 6] = [
    Load {
        name: "w1",
        about: "1,000 runs of 10 tasks in a row",
        runs: 1_000,
        tasks: 10,
        slots: 256,
        plan: || chain(10),
    },
    Load { name: "w2", about: "a spread of 10,000, then a join", runs: 1, tasks: 10_002, slots: 256, plan: spread },
    Load { name: "w3", about: "a chain of 1,000", runs: 1, tasks: 1_000, slots: 1, plan: || chain(1_000) },
    Load {
        name: "w4",
        about: "10,000 tasks in 100 layers, three upstreams each",
        runs: 1,
        tasks: 10_000,
        slots: 256,
        plan: || layers(100, 100),
    },
    Load {
        name: "w4-100k",
        about: "100,000 tasks in 100 layers, three upstreams each",
        runs: 1,
        tasks: 100_000,
        slots: 256,
        plan: || layers(100, 1_000),
    },
    Load {
        name: "w4-1m",
        about: "1,000,000 tasks in 100 layers, three upstreams each",
        runs: 1,
        tasks: 1_000_000,
        slots: 256,
        plan: || layers(100, 10_000),
    },
];

/// The action whose handler does nothing.
pub const NOOP: &str = "noop";

impl Load {
    /// The load of a name.
    pub fn find(name: &str) -> Option<&'static Load> {
        LOADS.iter().find(|l| l.name == name)
    }

    /// Whether it is run once before it is measured; the large one takes long enough to be steady.
    pub fn warms_up(&self) -> bool {
        self.tasks < 1_000_000
    }

    /// A plan of so many tasks in ten layers, three upstreams each.
    pub fn layered(tasks: u32) -> Result<Plan> {
        build(layers(10, tasks / 10), "layered")
    }

    /// The plan its runs are of.
    pub fn plan(&self) -> Result<Plan> {
        build((self.plan)(), self.name)
    }
}

fn build(draft: PlanDraft, name: &str) -> Result<Plan> {
    let problem = |problems: Vec<edgewise_core::plan::Problem>| Error::bug("bench_plan", problems[0].message.clone());
    draft.build(Name::parse(name)?).map_err(problem)
}

fn noop() -> Spec {
    let action = Name::parse(NOOP).unwrap_or_else(|_| unreachable!("a good name"));
    Spec {
        when: None,
        work: Work::Action { action, with: Template::default() },
        retry: Retry::default(),
        timeouts: Timeouts::default(),
        share: Share::default(),
        publish: Vec::new(),
    }
}

fn chain(length: u32) -> PlanDraft {
    layers(length, 1)
}

/// Layers of the same width; each task needs up to three of the layer before.
fn layers(depth: u32, width: u32) -> PlanDraft {
    let mut region = RegionDraft::default();
    for layer in 0..depth {
        for place in 0..width {
            let down = region.node(&format!("t{layer}-{place}"), 0, Join::All);
            if layer > 0 {
                for step in 0..width.min(3) {
                    region.edge((layer - 1) * width + (place + step) % width, down, Accepts::SUCCESS);
                }
            }
        }
    }
    PlanDraft { specs: vec![noop()], regions: vec![region], ..PlanDraft::default() }
}

fn spread() -> PlanDraft {
    let items = Items::Literal((0..10_000).map(serde_json::Value::from).collect());
    let spread = Spread { region: 1, items, tolerate: 0, fail_fast: false };
    let work = Spec { work: Work::Spread(spread), ..noop() };
    let (mut root, mut item) = (RegionDraft::default(), RegionDraft::default());
    let up = root.node("each", 1, Join::All);
    let down = root.node("join", 0, Join::All);
    root.edge(up, down, Accepts::SUCCESS);
    item.node("each", 0, Join::All);
    PlanDraft { specs: vec![noop(), work], regions: vec![root, item], ..PlanDraft::default() }
}
