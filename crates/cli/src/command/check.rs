//! `edgewise check`: a flow compiled and not run. Everything that is wrong with it is shown at once.

use super::Context;
use crate::args::Check;
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::problem::Result;
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::flow::{Level, Problems};
use edgewise_engine::facts::check::{Flow, Report};

pub(super) fn perform(args: &Check, context: &mut Context<'_>) -> Result<Exit> {
    let file = FlowFile::typed(&args.file, context.cwd);
    let style = context.printer.out_style;
    match file.all()? {
        Ok(flows) => {
            // What is said of a file is said once, whichever of its flows it is about.
            let warnings = flows.first().map(|one| one.warnings.clone()).unwrap_or_default();
            let found: Vec<Flow<'_>> = flows.iter().map(|one| Flow::new(&one.plan)).collect();
            let mut lines = lines(&warnings, style);
            lines.extend(
                found.iter().map(|one| format!("{} {}", style.paint(Ink::Good, "ok:"), said(one, found.len()))),
            );
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

/// A program has no edges to count; beside others a flow has a name.
fn said(flow: &Flow<'_>, of: usize) -> String {
    let name = if of > 1 { format!("{}: ", flow.flow) } else { String::new() };
    let edges = if flow.edges > 0 { format!(", {}", some(flow.edges, "edge")) } else { String::new() };
    format!("{name}{}{edges}", some(flow.tasks, "task"))
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

fn some(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
