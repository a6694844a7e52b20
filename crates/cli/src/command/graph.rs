//! `edgewise graph`: a flow or a run, drawn; in the terminal, or as a file for others to show.

mod text;

use super::Context;
use crate::args::{Form, Graph, RunRef};
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::output::Format;
use crate::problem::{Problem, Result};
use crate::style::Style;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::sketch::Sketch;
use edgewise_core::suggest::shown;
use edgewise_engine::engine::wall_clock;
use std::path::Path;

/// How a file with a flow in it is called.
const FLOWS: [&str; 3] = ["yaml", "yml", "flow"];

pub(super) fn perform(args: &Graph, context: &mut Context<'_>) -> Result<Exit> {
    let form = form(args, context.printer.format)?;
    let file = FlowFile::typed(Path::new(&args.what), context.cwd);
    let is_flow =
        file.path.extension().is_some_and(|ending| FLOWS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let sketch = if (is_flow || file.path.is_file()) && args.at.is_some() {
        let what = format!("{} is a flow: --at looks back into a run", shown(&args.what));
        return Err(Problem::new(Kind::Invalid, "flow_has_no_past", what).next("give a run, or leave --at out"));
    } else if is_flow || file.path.is_file() {
        Sketch::of_plan(&file.one("cannot be drawn: it is no valid flow")?.plan)
    } else {
        of_run(args, context)?
    };
    let printer = &mut context.printer;
    if let Some(file) = &args.to {
        let drawn = drawn(&sketch, form, Style { color: false, ..printer.out_style }, None)?;
        std::fs::write(context.cwd.join(file), drawn).map_err(|error| Problem::file("written", file, &error))?;
        printer.say(&format!("{} is written", file.display()));
        return Ok(Exit::Ok);
    }
    if printer.quiet && args.format.is_none() {
        sketch.nodes().iter().try_for_each(|node| printer.line(&node.id))?;
        return Ok(Exit::Ok);
    }
    if form == Form::Json && printer.format == Format::Jsonl {
        printer.one("", &[], &sketch.to_drawing())?;
        return Ok(Exit::Ok);
    }
    let drawn = drawn(&sketch, form, printer.out_style, printer.columns)?;
    printer.bytes(drawn.as_bytes())?;
    Ok(Exit::Ok)
}

/// What was asked for: by name, by the ending of the file, or by asking for JSON as everywhere.
fn form(args: &Graph, format: Format) -> Result<Form> {
    let asked = args.format.or((format != Format::Table).then_some(Form::Json));
    match (asked, &args.to) {
        (Some(form), _) => Ok(form),
        (None, None) => Ok(Form::Text),
        (None, Some(file)) => Form::of_file(file).ok_or_else(|| {
            let what = format!("the ending of {} does not say which form is wanted", file.display());
            Problem::new(Kind::Invalid, "unknown_form", what)
                .next("name it .svg, .dot, .mmd, .json or .txt, or say --format")
        }),
    }
}

fn of_run(args: &Graph, context: &Context<'_>) -> Result<Sketch> {
    let run = RunRef::parse(&args.what).map_err(|_| {
        let what = format!("{} is neither a file nor a run", shown(&args.what));
        Problem::new(Kind::NotFound, "nothing_to_draw", what)
            .next("give the file of a flow, a run's id or its beginning, or @ for the last run")
    })?;
    let mut view = View::open(context.config)?;
    let run = view.run(&run)?;
    Ok(match args.at {
        Some(at) => Sketch::of_run(&view.as_of(&run, at, wall_clock())?.run),
        None => Sketch::of_run(&run),
    })
}

/// The whole picture, with its last line break.
fn drawn(sketch: &Sketch, form: Form, style: Style, columns: Option<usize>) -> Result<String> {
    Ok(match form {
        Form::Text => text::lines(sketch, style, columns).iter().map(|line| format!("{line}\n")).collect(),
        Form::Svg => sketch.to_svg(),
        Form::Dot => sketch.to_dot(),
        Form::Mermaid => sketch.to_mermaid(),
        Form::Json => {
            let json = serde_json::to_string_pretty(&sketch.to_drawing()).map_err(|error| {
                Problem::new(Kind::Bug, "unprintable", "the picture has no JSON form").why(error.to_string())
            })?;
            json + "\n"
        }
    })
}
