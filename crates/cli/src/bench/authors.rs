//! What authors wait for: a large flow read, a large program read, a small file checked with the start of the program,
//! one guard, and the layout of a large graph. Each is the best of several, beside the gate that it has to keep.

use edgewise_core::expr::{Expr, Fault, Hyphens, parse};
use edgewise_core::flow::{compile, compile_file};
use edgewise_core::plan::Accepts;
use edgewise_core::sketch::layout::{Direction, Layout, Size, Spacing, Task, layout};
use edgewise_core::sketch::{Edge, Node, NodeKind, Sketch};
use edgewise_core::template::{Root, Values};
use edgewise_core::{Error, Result};
use serde::Serialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many tasks, statements and nodes.
const MANY: u32 = 10_000;
/// How often a guard is evaluated: one alone is too short to be seen.
const GUARDS: u32 = 200_000;

/// One thing that authors wait for.
#[derive(Debug, Serialize)]
pub struct Waited {
    /// What it is.
    pub what: &'static str,
    /// How long it may take, in microseconds.
    pub gate_us: f64,
    /// How long it took at best.
    pub took_us: f64,
}

/// All of them; files are made in the folder, which is somebody else's to take away.
pub fn authors(folder: &Path, quick: bool) -> Result<Vec<Waited>> {
    let times = if quick { 1 } else { 5 };
    let (graph, program) = (graph(), program());
    let small = folder.join("small.yaml");
    let unwritten =
        |error: std::io::Error| Error::bug("bench_file", format!("{} was not written: {error}", small.display()));
    std::fs::write(&small, SMALL).map_err(unwritten)?;
    let (guard, sketch) = (guard()?, sketch());
    let boxes = vec![Size { width: 120, height: 46 }; MANY as usize];
    let guards = best(times, || (0..GUARDS).try_for_each(|_| evaluate(&guard)))? / GUARDS;
    let all = [
        ("10,000 tasks of YAML to a plan", 300_000.0, best(times, || read(&graph, "many.yaml"))?),
        ("10,000 statements of a program to a plan", 100_000.0, best(times, || read(&program, "many.flow"))?),
        ("`edgewise check` of a small flow, start included", 20_000.0, best(times * 3, || check(&small))?),
        ("a typical guard", 2.0, guards),
        ("the layout of 10,000 nodes and 20,000 edges", 200_000.0, best(times, || laid_out(&sketch, &boxes))?),
    ];
    let waited =
        |(what, gate_us, took): (_, _, Duration)| Waited { what, gate_us, took_us: took.as_nanos() as f64 / 1e3 };
    Ok(all.into_iter().map(waited).collect())
}

fn best(times: u32, mut act: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..times {
        let began = Instant::now();
        act()?;
        best = best.min(began.elapsed());
    }
    Ok(best)
}

/// Each task waits for the one before it, is given something of it, and has a condition.
fn graph() -> String {
    let mut text = String::from("flow: many\ninputs: { n: { type: integer } }\ntasks:\n  t0: { run: 'true' }\n");
    for n in 1..MANY {
        let before = n - 1;
        _ = writeln!(
            text,
            "  t{n}:\n    after: [t{before}]\n    when: inputs.n > {n}\n    run: ./do \"$V\"\n    env: {{ V: '${{{{ tasks.t{before}.output }}}}' }}"
        );
    }
    text
}

/// Calls and assignments, a branch in every ten.
fn program() -> String {
    let mut text = String::from("flow many(n):\n    x = 0\n");
    for n in 0..MANY / 10 {
        (0..4).for_each(|k| _ = writeln!(text, "    a{k} = @work(v=x, n={n})\n    x = x + {k}"));
        _ = writeln!(text, "    if x > n:\n        x = 0");
    }
    text
}

fn read(text: &str, file: &str) -> Result<()> {
    let read = if file.ends_with(".flow") { compile_file(text, file).map(drop) } else { compile(text, file).map(drop) };
    read.map_err(|problems| Error::bug("bench_flow", problems.to_string()))
}

const SMALL: &str = "flow: small\ntasks:\n  hello: { run: echo hello }\n  again: { after: [hello], run: echo again }\n";

fn check(file: &Path) -> Result<()> {
    let failed = |why: String| Error::bug("bench_check", format!("`edgewise check` did not check: {why}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let status = Command::new(program).arg("check").arg(file).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// A condition, and what its names stand for.
struct Guard {
    expr: Expr,
    inputs: Value,
    output: Value,
}

impl<'v> Values<'v> for &'v Guard {
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>> {
        Some(Cow::Borrowed(if *root == Root::Input { &self.inputs } else { &self.output }))
    }
}

fn guard() -> Result<Guard> {
    let find = &mut |path: &[&str], span| match path {
        ["inputs", ..] => Ok((1, Root::Input)),
        ["tasks", _, "output", ..] => Ok((3, Root::Output { up: 0, node: 0 })),
        _ => Err(Fault::new(span, "unknown_reference", "this names nothing")),
    };
    let text = "inputs.version != '0.0.0' && tasks.a.output.rows.size() > 3";
    let expr = parse(text, Hyphens::InNames).and_then(|ast| ast.bind(find));
    let expr = expr.map_err(|faults| Error::bug("bench_guard", format!("{faults:?}")))?;
    Ok(Guard { expr, inputs: json!({"version": "1.2.3"}), output: json!({"rows": [1, 2, 3, 4]}) })
}

fn evaluate(guard: &Guard) -> Result<()> {
    match std::hint::black_box(&guard.expr).eval(&guard) {
        Ok(value) if *value == Value::Bool(true) => Ok(()),
        other => Err(Error::bug("bench_guard", format!("the guard came to {other:?}"))),
    }
}

/// A hundred layers of a hundred; each node needs two of the three layers before it.
fn sketch() -> Sketch {
    let mut chance = 1u64;
    let mut below = |n: u32| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((chance >> 33) % u64::from(n)) as u32
    };
    let mut sketch = Sketch::new("many");
    for n in 0..MANY {
        let id = format!("n{n}");
        sketch.add(Node {
            label: id.clone(),
            id,
            kind: NodeKind::Action,
            note: String::new(),
            inside: None,
            now: None,
        });
    }
    for to in 100..MANY {
        for _ in 0..2 {
            let back = 1 + below(3).min(to / 100 - 1);
            let from = (to / 100 - back) * 100 + below(100);
            sketch.join(Edge { from, to, accepts: Accepts::SUCCESS, resolution: None });
        }
    }
    sketch
}

fn laid_out(sketch: &Sketch, boxes: &[Size]) -> Result<()> {
    let labels = vec![Size { width: 0, height: 0 }; sketch.edges().len()];
    let spacing = Spacing { direction: Direction::Down, boxes: 10, layers: 20, track: 6, pad: 8, title: 12 };
    let Layout { boxes: placed, .. } = layout(&Task { sketch, boxes, labels: &labels, spacing });
    if placed.len() == boxes.len() { Ok(()) } else { Err(Error::bug("bench_layout", "a node has no place")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_has_the_size_that_it_says() {
        let plan = compile(&graph(), "many.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan;
        assert_eq!(plan.root().len(), MANY);
        let statements = program().lines().skip(1).filter(|line| !line.trim().is_empty()).count();
        assert!((MANY as usize..MANY as usize + 10).contains(&statements), "{statements}");
        read(&program(), "many.flow").unwrap();
        evaluate(&guard().unwrap()).unwrap();
        assert_eq!(sketch().edges().len(), 2 * (MANY as usize - 100));
    }
}
