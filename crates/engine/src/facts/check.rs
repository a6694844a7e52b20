//! What a check of a flow's text found: its flows, or everything that is wrong with it.

use edgewise_core::flow::{Problem, Problems};
use edgewise_core::name::Name;
use edgewise_core::plan::{Plan, Region};
use serde::{Serialize, Serializer};

/// What programs are told.
#[derive(Serialize)]
pub struct Report<'a> {
    /// How the text is called.
    pub file: String,
    /// Whether it could be run.
    pub ok: bool,
    /// Its flows.
    pub flows: Vec<Flow<'a>>,
    /// What is wrong, or could be better.
    pub problems: Vec<Told<'a>>,
    /// How many more problems there are.
    pub more: usize,
}

/// One flow of the file.
#[derive(Serialize)]
pub struct Flow<'a> {
    /// Its name.
    pub flow: &'a Name,
    /// Told by its hash, which is computed only if somebody reads it.
    #[serde(serialize_with = "by_hash")]
    pub plan: &'a Plan,
    /// How many tasks it has.
    pub tasks: u32,
    /// How many edges.
    pub edges: u32,
}

/// One problem.
#[derive(Serialize)]
pub struct Told<'a> {
    /// How bad it is.
    pub level: String,
    /// Its stable code.
    pub code: &'a str,
    /// Where.
    pub line: u32,
    /// Where in the line.
    pub column: u32,
    /// What.
    pub message: &'a str,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
    /// The text it is about.
    pub excerpt: &'a str,
}

fn by_hash<S: Serializer>(plan: &Plan, s: S) -> std::result::Result<S::Ok, S::Error> {
    plan.encode().0.serialize(s)
}

impl<'a> Flow<'a> {
    /// Of a plan.
    pub fn new(plan: &'a Plan) -> Self {
        let (tasks, edges) = size(plan);
        Self { flow: &plan.flow, plan, tasks, edges }
    }
}

impl<'a> Report<'a> {
    /// Of what was found in a text that could not be compiled, or could.
    pub fn new(file: String, problems: &'a Problems) -> Self {
        let told = |p: &'a Problem| Told {
            level: p.level.to_string(),
            code: p.code,
            line: p.line,
            column: p.column,
            message: &p.message,
            help: p.help.as_deref(),
            excerpt: &p.excerpt,
        };
        let list = problems.list.iter().map(told).collect();
        Self { file, ok: false, flows: Vec::new(), problems: list, more: problems.more }
    }
}

/// Tasks as their author counts them: a spread over one task is that task, and in a program what holds others is none.
fn size(plan: &Plan) -> (u32, u32) {
    if plan.root().script().is_some() {
        let nodes =
            (0u32..).zip(&plan.regions).flat_map(|(number, region)| (0..region.len()).map(move |node| (number, node)));
        let tasks = nodes.filter(|(region, node)| !plan.spec(*region, *node).work.is_composite()).count();
        return (tasks as u32, 0);
    }
    let within = plan.regions.iter().skip(1).map(Region::len).filter(|tasks| *tasks > 1);
    (plan.root().len() + within.sum::<u32>(), plan.regions.iter().map(Region::edge_count).sum())
}
