//! `edgewise watch`: follow a run, and go on with it if nobody else does.

use super::Context;
use crate::args::Watch;
use crate::exit::Exit;
use crate::follow::{How, follow, show};
use crate::live::can_draw;
use crate::place::{Place, runtime};
use crate::problem::Result;
use std::io::IsTerminal;

pub(super) fn perform(args: &Watch, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    let run = place.find(&args.run)?;
    let terminal = std::io::stdout().is_terminal() && context.printer.for_people();
    let draw = terminal && can_draw();
    let seen = place.reader()?.run(run)?;
    if seen.state.is_done() {
        return show(&seen, draw, context);
    }
    let how = How { draw, give_up: !terminal, timeout: None };
    runtime()?.block_on(follow(&place, how, async |_, _| Ok(run), context))
}
