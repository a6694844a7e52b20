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
    plan: fn() -> Result<Plan>,
}

/// All loads, in the order in which they are run.
pub const LOADS: [Load; 6] = [
    Load {
        name: "w1",
        about: "1,000 runs of 10 tasks in a row",
        runs: 1_000,
        tasks: 10,
        slots: 256,
        plan: || build(chain(10), "w1"),
    },
    Load {
        name: "w2",
        about: "a spread of 10,000, then a join",
        runs: 1,
        tasks: 10_002,
        slots: 256,
        plan: || build(spread(), "w2"),
    },
    Load { name: "w3", about: "a chain of 1,000", runs: 1, tasks: 1_000, slots: 1, plan: || build(chain(1_000), "w3") },
    Load {
        name: "w4",
        about: "10,000 tasks in 100 layers, three upstreams each",
        runs: 1,
        tasks: 10_000,
        slots: 256,
        plan: || build(layers(100, 100), "w4"),
    },
    Load {
        name: "w4-100k",
        about: "100,000 tasks in 100 layers, three upstreams each",
        runs: 1,
        tasks: 100_000,
        slots: 256,
        plan: || build(layers(100, 1_000), "w4-100k"),
    },
    Load {
        name: "w4-1m",
        about: "1,000,000 tasks in 100 layers, three upstreams each",
        runs: 1,
        tasks: 1_000_000,
        slots: 256,
        plan: || build(layers(100, 10_000), "w4-1m"),
    },
];

/// Programs of two lengths, only by their names: what a round or an item costs must not grow with their number.
pub const PROGRAMS: [Load; 6] = [
    Load {
        name: "for-10k",
        about: "a program that goes over 10,000 items",
        runs: 1,
        tasks: 10_001,
        slots: 1,
        plan: || program("    for x in range(10000):\n        @noop(v=x)\n"),
    },
    Load {
        name: "for-100k",
        about: "a program that goes over 100,000 items",
        runs: 1,
        tasks: 100_001,
        slots: 1,
        plan: || program("    for x in range(100000):\n        @noop(v=x)\n"),
    },
    Load {
        name: "spread-10k",
        about: "a program that spreads over 10,000 items",
        runs: 1,
        tasks: 10_001,
        slots: 256,
        plan: || program("    spread range(10000):x -> @noop(v=x)\n"),
    },
    Load {
        name: "spread-100k",
        about: "a program that spreads over 100,000 items",
        runs: 1,
        tasks: 100_001,
        slots: 256,
        plan: || program("    spread range(100000):x -> @noop(v=x)\n"),
    },
    Load {
        name: "steps-10k",
        about: "a program that spreads over 10,000 items of three steps",
        runs: 1,
        tasks: 40_001,
        slots: 256,
        plan: || program(&format!("    spread range(10000):x -> steps(x)\n{STEPS}")),
    },
    Load {
        name: "steps-100k",
        about: "a program that spreads over 100,000 items of three steps",
        runs: 1,
        tasks: 400_001,
        slots: 256,
        plan: || program(&format!("    spread range(100000):x -> steps(x)\n{STEPS}")),
    },
];

const STEPS: &str = "fn steps(x):\n    a = @noop(v=x)\n    b = @noop(v=a)\n    return @noop(v=b)\n";

/// The action whose handler does nothing.
pub const NOOP: &str = "noop";

impl Load {
    /// The load of a name.
    pub fn find(name: &str) -> Option<&'static Load> {
        LOADS.iter().chain(&PROGRAMS).find(|l| l.name == name)
    }

    /// Whether it is run once before it is measured; the large one takes long enough to be steady, and of programs
    /// instructions are counted.
    pub fn warms_up(&self) -> bool {
        self.tasks < 1_000_000 && !PROGRAMS.iter().any(|program| program.name == self.name)
    }

    /// A plan of so many tasks in ten layers, three upstreams each.
    pub fn layered(tasks: u32) -> Result<Plan> {
        build(layers(10, tasks / 10), "layered")
    }

    /// The plan its runs are of.
    pub fn plan(&self) -> Result<Plan> {
        (self.plan)()
    }
}

fn build(draft: PlanDraft, name: &str) -> Result<Plan> {
    let problem = |problems: Vec<edgewise_core::plan::Problem>| Error::bug("bench_plan", problems[0].message.clone());
    draft.build(Name::parse(name)?).map_err(problem)
}

fn program(body: &str) -> Result<Plan> {
    let compiled = edgewise_core::text::compile(&format!("flow bench():\n{body}"), "bench.flow");
    let mut flows = compiled.map_err(|problems| Error::bug("bench_plan", problems.to_string()))?;
    Ok(flows.remove(0).plan)
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
