//! What is seen while a run is followed: a picture on a terminal, lines elsewhere, nothing for programs.

use crate::live::{Lines, Screen, draw, size};
use crate::output::Printer;
use crate::picture::picture;
use crate::problem::{Problem, Result};
use crate::style::Style;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use jiff::tz::TimeZone;
use std::io::{Stderr, Stdout, Write, stderr, stdout};

/// Where a run is shown.
pub(super) enum View {
    /// Drawn, in place.
    Drawn(Screen<Stdout>, Style),
    /// One line for each change, to stderr: stdout is for data.
    Told(Lines, Stderr),
    /// Not at all.
    Silent,
}

impl View {
    pub(super) fn new(drawn: bool, printer: &Printer) -> Self {
        match (printer.for_people(), drawn) {
            (true, true) => Self::Drawn(Screen::new(stdout()), printer.out_style),
            (true, false) => Self::Told(Lines::new(TimeZone::system()), stderr()),
            (false, _) => Self::Silent,
        }
    }

    pub(super) fn show(&mut self, run: &Run, now: Time) -> Result<()> {
        if matches!(self, Self::Silent) {
            return Ok(());
        }
        let Some(picture) = picture(run, now) else { return Ok(()) };
        match self {
            Self::Drawn(screen, style) => {
                let (width, height) = size();
                let shown = screen.show(draw(&picture, width, height, now, *style), width);
                shown.map_err(|error| Problem::output(&error))
            }
            Self::Told(lines, to) => {
                for line in lines.changes(&picture, now) {
                    // Talk that cannot be heard changes nothing about what is done.
                    let _ = writeln!(to, "{line}");
                }
                Ok(())
            }
            Self::Silent => Ok(()),
        }
    }

    /// Leaves the last picture where it is.
    pub(super) fn leave(&mut self) {
        if let Self::Drawn(screen, _) = self {
            let _ = screen.leave();
        }
    }
}
