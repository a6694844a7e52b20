//! `edgewise graph`: a flow, a run or items, drawn; in the terminal, or as a file for others to show.

mod text;

use super::Context;
use super::work::{Asks, Board, Found, found, refuse_past};
use crate::args::{At, Form, Graph, Meant};
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
use edgewise_engine::facts::picture::sketch;
use std::path::Path;

/// How a file with a flow in it is called.
const FLOWS: [&str; 3] = ["yaml", "yml", "flow"];

pub(super) fn perform(args: &Graph, context: &mut Context<'_>) -> Result<Exit> {
    let form = form(args, context.printer.format)?;
    let Some(what) = &args.what else {
        let board = Board::open(context)?;
        let (sketch, left_out) = sketch(&board.work, board.now, None);
        return print(&sketch, form, left_out, args, context);
    };
    let file = FlowFile::typed(Path::new(what), context.cwd);
    let is_flow =
        file.path.extension().is_some_and(|ending| FLOWS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
    let (sketch, left_out) = if (is_flow || file.path.is_file()) && args.at.is_some() {
        let what = format!("{} is a flow: --at looks back into a run", shown(what));
        return Err(Problem::new(Kind::Invalid, "flow_has_no_past", what).next("give a run, or leave --at out"));
    } else if is_flow || file.path.is_file() {
        (Sketch::of_plan(&file.one("cannot be drawn: it is no valid flow")?.plan), 0)
    } else {
        of_id(what, args.at, context)?
    };
    print(&sketch, form, left_out, args, context)
}

fn print(sketch: &Sketch, form: Form, left_out: usize, args: &Graph, context: &mut Context<'_>) -> Result<Exit> {
    if left_out > 0 {
        context.printer.say(&format!("{left_out} items are left out: the picture would be too large"));
    }
    let printer = &mut context.printer;
    if let Some(file) = &args.to {
        let drawn = drawn(sketch, form, Style { color: false, ..printer.out_style }, None)?;
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
    let drawn = drawn(sketch, form, printer.out_style, printer.columns)?;
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

/// What is drawn of an item or a run, and how many items were left out.
fn of_id(what: &str, at: Option<At>, context: &Context<'_>) -> Result<(Sketch, usize)> {
    let meant = Meant::parse(what).map_err(|_| {
        let what = format!("{} is neither a file nor an item nor a run", shown(what));
        Problem::new(Kind::NotFound, "nothing_to_draw", what)
            .next("give the file of a flow, an id or its beginning, or @ for the last one")
    })?;
    let run = match found(&meant, None, Asks::Whole, context)? {
        Found::Item(board, id) => {
            refuse_past(at)?;
            return Ok(sketch(&board.work, board.now, Some(&id)));
        }
        Found::Run(run, _) => run,
    };
    let mut view = View::open(context.config)?;
    let run = view.run(&run)?;
    Ok(match at {
        Some(at) => (Sketch::of_run(&view.as_of(&run, at, wall_clock())?.run), 0),
        None => (Sketch::of_run(&run), 0),
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
