//! `edgewise test`: the cases of flows, performed in virtual time. Nothing is run, stored or waited for.

use super::Context;
use crate::args::Test;
use crate::exit::Exit;
use crate::flow_file::{CASES, FlowFile};
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style, ink};
use crate::text;
use edgewise_core::Kind;
use edgewise_core::flow::read_cases;
use edgewise_core::rehearsal::{Case, Miss, judge, perform as rehearse};
use edgewise_core::state::Phase;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The endings of the flows beside them.
const FLOWS: [&str; 3] = ["flow", "yaml", "yml"];

/// What programs are told.
#[derive(Serialize)]
struct Report {
    passed: usize,
    failed: usize,
    files: Vec<File>,
}

/// The cases of one file.
#[derive(Serialize)]
struct File {
    file: String,
    cases: Vec<Done>,
}

/// A case that was performed.
#[derive(Serialize)]
struct Done {
    case: String,
    flow: String,
    ok: bool,
    elapsed_ms: u64,
    misses: Vec<Miss>,
}

pub(super) fn perform(args: &Test, context: &mut Context<'_>) -> Result<Exit> {
    let mut files = Vec::new();
    for typed in &args.files {
        files.push(file(typed, args.filter.as_deref(), context.cwd)?);
    }
    let all = || files.iter().flat_map(|file| &file.cases);
    let (passed, failed) = (all().filter(|case| case.ok).count(), all().filter(|case| !case.ok).count());
    if passed + failed == 0 {
        let filter = args.filter.as_deref().unwrap_or_default();
        let what = format!("no case has {} in its name", edgewise_core::suggest::shown(filter));
        return Err(Problem::new(Kind::NotFound, "no_such_case", what).next("leave --filter out to see all of them"));
    }
    if context.printer.quiet {
        all().filter(|case| !case.ok).try_for_each(|case| context.printer.line(&case.case))?;
    } else {
        let lines = lines(&files, passed, failed, context.printer.out_style);
        context.printer.one("", &lines, &Report { passed, failed, files })?;
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}

fn file(typed: &Path, filter: Option<&str>, cwd: &Path) -> Result<File> {
    let (flow, cases) = pair(typed, cwd)?;
    let flows = flow.all()?.map_err(|problems| invalid(&flow.shown, &problems.to_string()))?;
    let cases = read_cases(&cases.text()?, &cases.shown, &flows)
        .map_err(|problems| invalid(&cases.shown, &problems.to_string()))
        .map(|found| (cases.shown, found))?;
    let wanted = cases.1.iter().filter(|case| filter.is_none_or(|part| case.name.contains(part)));
    Ok(File { file: cases.0, cases: wanted.map(done).collect() })
}

fn invalid(file: &str, problems: &str) -> Problem {
    let what = format!("{file} cannot be rehearsed, nothing was performed");
    Problem::new(Kind::Invalid, "invalid_flow", what).why(problems.trim_end())
}

fn done(case: &Case) -> Done {
    let performance = rehearse(case);
    let misses = judge(case, &performance);
    Done {
        case: case.name.clone(),
        flow: case.plan.flow.to_string(),
        ok: misses.is_empty(),
        elapsed_ms: performance.elapsed.0,
        misses,
    }
}

/// The flow and its cases, whichever of the two was typed.
fn pair(typed: &Path, cwd: &Path) -> Result<(FlowFile, FlowFile)> {
    let shown = typed.display().to_string();
    if let Some(stem) = CASES.iter().find_map(|ending| shown.strip_suffix(ending)) {
        let beside = FLOWS.map(|ending| PathBuf::from(format!("{stem}.{ending}")));
        let Some(flow) = beside.iter().find(|path| cwd.join(path).is_file()) else {
            let what = format!("there is no flow beside {shown}");
            return Err(
                Problem::new(Kind::NotFound, "no_flow", what).next(format!("it is called {stem}.flow or {stem}.yaml"))
            );
        };
        return Ok((FlowFile::typed(flow, cwd), FlowFile::typed(typed, cwd)));
    }
    let flow = FlowFile::typed(typed, cwd);
    let stem = Path::new(&flow.shown).with_extension("").display().to_string();
    let beside = CASES.map(|ending| PathBuf::from(format!("{stem}{ending}")));
    match beside.iter().find(|path| cwd.join(path).is_file()) {
        Some(cases) => Ok((flow, FlowFile::typed(cases, cwd))),
        None if flow.path.is_file() => {
            let what = format!("{} has no cases", flow.shown);
            Err(Problem::new(Kind::NotFound, "no_cases", what).next(format!("write them into {stem}{}", CASES[0])))
        }
        // Of a flow that is not there, just that is said.
        None => flow.text().map(|_| (flow.clone(), flow)),
    }
}

fn lines(files: &[File], passed: usize, failed: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for file in files.iter().filter(|file| !file.cases.is_empty()) {
        lines.push(style.paint(Ink::Bold, &text::escape(&file.file)));
        for case in &file.cases {
            let phase = if case.ok { Phase::Succeeded } else { Phase::Failed };
            let sign = style.paint(ink(phase), style.glyph(phase));
            lines.push(format!("  {sign} {}", text::escape(&case.case)));
            lines.extend(case.misses.iter().flat_map(|miss| told(miss, style)));
        }
    }
    let bad = format!("{failed} failed");
    let bad = if failed > 0 { style.paint(Ink::Bad, &bad) } else { bad };
    lines.push(format!("{passed} passed, {bad}"));
    lines
}

fn told(miss: &Miss, style: Style) -> [String; 3] {
    let line = |label: &str, ink: Ink, value: &str| {
        let value: Vec<_> = value.lines().map(text::escape).collect();
        format!("        {} {}", style.paint(Ink::Dim, label), style.paint(ink, &value.join(" ")))
    };
    [
        format!("      {}", text::escape(&miss.what)),
        line("expected", Ink::Good, &miss.expected),
        line("found   ", Ink::Bad, &miss.found),
    ]
}
