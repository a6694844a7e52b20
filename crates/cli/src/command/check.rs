//! `edgewise check`: a flow compiled and not run. Everything that is wrong with it is shown at once.

use super::Context;
use crate::args::Check;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::flow::{Level, Problems, compile};
use edgewise_core::id::PlanHash;
use edgewise_core::name::Name;
use edgewise_core::plan::{Plan, Region};
use serde::Serialize;
use std::fs;

/// What programs are told.
#[derive(Serialize)]
struct Report<'a> {
    file: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanHash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<u32>,
    problems: Vec<Told<'a>>,
    more: usize,
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
    let file = args.file.display().to_string();
    let text = fs::read(&args.file).map_err(|error| Problem::file("read", &args.file, &error))?;
    let text = String::from_utf8(text).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::new(edgewise_core::Kind::Invalid, "not_utf8", format!("{file} is not UTF-8 from byte {at} on"))
            .next("save it as UTF-8")
    })?;
    match compile(&text, &file) {
        Ok(compiled) => {
            let (tasks, edges) = size(&compiled.plan);
            let mut lines = lines(&compiled.warnings, context.printer.out_style);
            let ok = context.printer.out_style.paint(Ink::Good, "ok:");
            lines.push(format!("{ok} {}, {}", some(tasks, "task"), some(edges, "edge")));
            let report = Report {
                ok: true,
                flow: Some(compiled.plan.flow.clone()),
                plan: Some(compiled.plan.encode().0),
                tasks: Some(tasks),
                edges: Some(edges),
                ..Report::new(file.clone(), &compiled.warnings)
            };
            context.printer.one(file, &lines, &report)?;
            Ok(Exit::Ok)
        }
        Err(problems) => {
            let mut lines = lines(&problems, context.printer.out_style);
            let bad = problems.list.iter().filter(|p| p.level == Level::Error).count() + problems.more;
            let found = context.printer.out_style.paint(Ink::Bad, &some(bad as u32, "problem"));
            lines.push(format!("{found} in {}", text::escape(&file)));
            context.printer.one(file.clone(), &lines, &Report::new(file, &problems))?;
            Ok(Exit::Usage)
        }
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
        Self { file, ok: false, flow: None, plan: None, tasks: None, edges: None, problems: list, more: problems.more }
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

/// Tasks as their author counts them: a spread over one task is that task.
fn size(plan: &Plan) -> (u32, u32) {
    let within = plan.regions.iter().skip(1).map(Region::len).filter(|tasks| *tasks > 1);
    (plan.root().len() + within.sum::<u32>(), plan.regions.iter().map(Region::edge_count).sum())
}

fn some(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
