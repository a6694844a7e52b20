//! `edgewise check`: a flow compiled and not run. Everything that is wrong with it is shown at once.

use super::Context;
use crate::args::Check;
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::problem::Result;
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::flow::{Level, Problems};
use edgewise_core::name::Name;
use edgewise_core::plan::{Plan, Region};
use serde::{Serialize, Serializer};

/// What programs are told.
#[derive(Serialize)]
struct Report<'a> {
    file: String,
    ok: bool,
    flows: Vec<Flow<'a>>,
    problems: Vec<Told<'a>>,
    more: usize,
}

/// One flow of the file.
#[derive(Serialize)]
struct Flow<'a> {
    flow: &'a Name,
    /// Told by its hash, which is computed only if somebody reads it.
    #[serde(serialize_with = "by_hash")]
    plan: &'a Plan,
    tasks: u32,
    edges: u32,
}

/// One problem.
#[derive(Serialize)]
struct Told<'a> {
    level: String,
    code: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    excerpt: &'a str,
}

pub(super) fn perform(args: &Check, context: &mut Context<'_>) -> Result<Exit> {
    let file = FlowFile::typed(&args.file, context.cwd);
    let style = context.printer.out_style;
    match file.all()? {
        Ok(flows) => {
            // What is said of a file is said once, whichever of its flows it is about.
            let warnings = flows.first().map(|one| one.warnings.clone()).unwrap_or_default();
            let found: Vec<Flow<'_>> = flows.iter().map(|one| Flow::new(&one.plan)).collect();
            let mut lines = lines(&warnings, style);
            lines
                .extend(found.iter().map(|one| format!("{} {}", style.paint(Ink::Good, "ok:"), one.said(found.len()))));
            let report = Report { ok: true, flows: found, ..Report::new(file.shown.clone(), &warnings) };
            context.printer.one(file.shown, &lines, &report)?;
            Ok(Exit::Ok)
        }
        Err(problems) => {
            let mut lines = lines(&problems, style);
            let bad = problems.list.iter().filter(|p| p.level == Level::Error).count() + problems.more;
            let found = style.paint(Ink::Bad, &some(bad as u32, "problem"));
            lines.push(format!("{found} in {}", text::escape(&file.shown)));
            context.printer.one(file.shown.clone(), &lines, &Report::new(file.shown, &problems))?;
            Ok(Exit::Usage)
        }
    }
}

fn by_hash<S: Serializer>(plan: &Plan, s: S) -> std::result::Result<S::Ok, S::Error> {
    plan.encode().0.serialize(s)
}

impl<'a> Flow<'a> {
    fn new(plan: &'a Plan) -> Self {
        let (tasks, edges) = size(plan);
        Self { flow: &plan.flow, plan, tasks, edges }
    }

    /// A program has no edges to count; beside others a flow has a name.
    fn said(&self, of: usize) -> String {
        let name = if of > 1 { format!("{}: ", self.flow) } else { String::new() };
        let edges = if self.edges > 0 { format!(", {}", some(self.edges, "edge")) } else { String::new() };
        format!("{name}{}{edges}", some(self.tasks, "task"))
    }
}

impl<'a> Report<'a> {
    fn new(file: String, problems: &'a Problems) -> Self {
        let told = |p: &'a edgewise_core::flow::Problem| Told {
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

/// The problems as a compiler tells them, each level in its colour, and an empty line behind each.
fn lines(problems: &Problems, style: Style) -> Vec<String> {
    let told = problems.to_string();
    let painted = told.lines().map(|line| {
        let safe = text::escape(line);
        match line {
            _ if line.starts_with("error[") => style.paint(Ink::Bad, &safe),
            _ if line.starts_with("warning[") => style.paint(Ink::Wait, &safe),
            _ => safe.into_owned(),
        }
    });
    let mut lines: Vec<String> = painted.collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
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

fn some(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
