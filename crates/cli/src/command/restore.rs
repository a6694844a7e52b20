//! `edgewise restore`: a backup brought back into an empty data folder, or only looked at.

use super::Context;
use super::backup::{Pace, tell};
use crate::args::Restore;
use crate::exit::Exit;
use crate::place::Place;
use crate::problem::Result;
use edgewise_engine::backup::{check, restore};

pub(super) fn perform(args: &Restore, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    let from = context.cwd.join(&args.from);
    let mut pace = Pace::new();
    if args.dry_run {
        let manifest = check(&from, &mut |step| pace.tell(step, context.printer))?;
        tell("checked", &from, &manifest, context)?;
        let dir = place.folder.dir().display().to_string();
        match edgewise_engine::backup::refuse_used(place.folder.dir()) {
            Ok(()) => context.printer.say(&format!("this would be in {dir}; nothing was written")),
            Err(error) => context.printer.say(&format!("it would be refused: {}", error.message)),
        }
        return Ok(Exit::Ok);
    }
    let manifest = restore(&from, &place.folder, &mut |step| pace.tell(step, context.printer))?;
    tell("restored", &from, &manifest, context)?;
    context.printer.say(&format!("into {}; `edgewise runs` lists what is there", place.folder.dir().display()));
    Ok(Exit::Ok)
}
