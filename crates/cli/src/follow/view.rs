//! What is seen while a run is followed: a picture on a terminal, lines elsewhere, nothing for programs.

use crate::live::{Lines, Screen, draw, size};
use crate::output::Printer;
use crate::picture::{Beside, picture};
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style};
use crate::text::escape;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use jiff::tz::TimeZone;
use std::io::{Stderr, Stdout, Write, stderr, stdout};

/// A run as it is shown, and what is wrong with its store at the moment.
pub(super) struct View {
    to: To,
    warning: Option<String>,
}

/// Where a run is shown.
enum To {
    /// Drawn, in place.
    Drawn(Screen<Stdout>, Style),
    /// One line for each change, to stderr: stdout is for data.
    Told(Lines, Stderr),
    /// Not at all.
    Silent,
}

impl View {
    pub(super) fn new(drawn: bool, printer: &Printer) -> Self {
        let to = match (printer.for_people(), drawn) {
            (true, true) => To::Drawn(Screen::new(stdout()), printer.out_style),
            (true, false) => To::Told(Lines::new(TimeZone::system()), stderr()),
            (false, _) => To::Silent,
        };
        Self { to, warning: None }
    }

    /// Says what keeps everything from going on, once, and that it is over.
    pub(super) fn warn(&mut self, warning: Option<String>) {
        if warning == self.warning {
            return;
        }
        if let To::Told(_, to) = &mut self.to {
            let line = match &warning {
                Some(warning) => format!("waiting: {}", escape(warning)),
                None => "going on: the store can be written again".to_owned(),
            };
            // Talk that cannot be heard changes nothing about what is done.
            let _ = writeln!(to, "{line}");
        }
        self.warning = warning;
    }

    /// Whether what is known of a run from elsewhere would be seen.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(self.to, To::Drawn(..))
    }

    pub(super) fn show(&mut self, run: &Run, now: Time, beside: &Beside) -> Result<()> {
        if matches!(self.to, To::Silent) {
            return Ok(());
        }
        let Some(picture) = picture(run, now, beside) else { return Ok(()) };
        match &mut self.to {
            To::Drawn(screen, style) => {
                let (width, height) = size();
                let mut lines =
                    draw(&picture, width, height.saturating_sub(usize::from(self.warning.is_some())), now, *style);
                lines.extend(
                    self.warning.as_deref().map(|w| style.paint(Ink::Bad, &format!(" waiting: {}", escape(w)))),
                );
                let shown = screen.show(lines, width);
                shown.map_err(|error| Problem::output(&error))
            }
            To::Told(lines, to) => {
                for line in lines.changes(&picture, now) {
                    // Talk that cannot be heard changes nothing about what is done.
                    let _ = writeln!(to, "{line}");
                }
                Ok(())
            }
            To::Silent => Ok(()),
        }
    }

    /// Leaves the last picture where it is.
    pub(super) fn leave(&mut self) {
        if let To::Drawn(screen, _) = &mut self.to {
            let _ = screen.leave();
        }
    }
}
