//! What is seen of a demo while it goes on: the run drawn with a line about its engines, or a line for each kill.

use super::judge::Watcher;
use crate::live::{Screen, can_draw, draw, size};
use crate::output::Printer;
use crate::picture::{Beside, picture};
use crate::problem::{Problem, Result};
use crate::style::Ink;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use std::io::{Stdout, stdout};

/// Where it is shown.
pub(super) struct Show {
    screen: Option<Screen<Stdout>>,
}

impl Show {
    pub(super) fn new(printer: &Printer) -> Self {
        let drawn = printer.for_people() && can_draw();
        Self { screen: drawn.then(|| Screen::new(stdout())) }
    }

    /// Draws the run as it is, and by whom it is done: how many engines were killed, and the pid of the one there is.
    pub(super) fn frame(&mut self, run: &Run, now: Time, engine: (u32, u32), printer: &Printer) -> Result<()> {
        let (Some(screen), Some(picture)) = (&mut self.screen, picture(run, now, &Beside::default())) else {
            return Ok(());
        };
        let (width, height) = size();
        let style = printer.out_style;
        let mut lines = draw(&picture, width, height.saturating_sub(1), now, style);
        let (killed, pid) = engine;
        let word = format!("{killed} killed");
        let word = style.paint(if killed > 0 { Ink::Bad } else { Ink::Dim }, &word);
        if !picture.state.is_done() {
            lines.push(format!(" {} {word}", style.paint(Ink::Dim, &format!("engine {}: pid {pid},", killed + 1))));
        }
        screen.show(lines, width).map_err(|error| Problem::output(&error))
    }

    /// Tells of a kill, where nothing is drawn.
    pub(super) fn killed(&self, pid: u32, watcher: &Watcher, printer: &mut Printer) {
        if self.screen.is_none() && printer.for_people() {
            let (done, tasks) = watcher.progress();
            printer.say(&format!("engine {} (pid {pid}) killed: {done} of {tasks} tasks were done", watcher.killed));
        }
    }

    /// Leaves the last picture where it is, apart from what follows it.
    pub(super) fn leave(&mut self, printer: &mut Printer) -> Result<()> {
        let Some(screen) = &mut self.screen else { return Ok(()) };
        let _ = screen.leave();
        printer.raw("")
    }
}
