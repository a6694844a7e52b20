//! What the terminal can show: colour or not, Unicode or ASCII. Decided once, then passed along.

use anstyle::{AnsiColor, Effects};
use edgewise_core::state::Phase;
use serde::Deserialize;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Also into pipes and files.
    Always,
    /// Not at all.
    Never,
}

/// What one stream can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Colour sequences are understood.
    pub color: bool,
    /// More than ASCII can be shown.
    pub unicode: bool,
}

/// The few colours there are, by what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As the terminal has it.
    Plain,
    /// Of lesser interest.
    Dim,
    /// The one thing to see.
    Bold,
    /// Ended well.
    Good,
    /// Ended badly.
    Bad,
    /// Happening now.
    Live,
    /// Waits for somebody or something.
    Wait,
}

impl Style {
    /// Neither colour nor Unicode: what any file can hold.
    pub const PLAIN: Self = Self { color: false, unicode: false };

    /// What a stream can show, from the choice made and the environment.
    pub fn detect(choice: ColorChoice, terminal: bool, var: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty());
        let color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb"),
        };
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        Self { color, unicode: locale.contains("utf-8") || locale.contains("utf8") }
    }

    /// The text in a colour, if there are any.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() || ink == Ink::Plain {
            return text.to_owned();
        }
        let style = match ink {
            Ink::Plain => anstyle::Style::new(),
            Ink::Dim => Effects::DIMMED.into(),
            Ink::Bold => Effects::BOLD.into(),
            Ink::Good => AnsiColor::Green.on_default(),
            Ink::Bad => AnsiColor::Red.on_default(),
            Ink::Live => AnsiColor::Cyan.on_default(),
            Ink::Wait => AnsiColor::Yellow.on_default(),
        };
        format!("{style}{text}{style:#}")
    }

    /// The sign of a phase, one column wide.
    pub fn glyph(self, phase: Phase) -> &'static str {
        let (fancy, ascii) = match phase {
            Phase::Blocked => ("·", "."),
            Phase::Ready => ("◌", "o"),
            Phase::Running => ("•", "*"),
            Phase::Waiting => ("◷", "~"),
            Phase::Succeeded => ("✓", "+"),
            Phase::Failed => ("✗", "x"),
            Phase::Skipped => ("–", "-"),
            Phase::Cancelled => ("⊘", "!"),
        };
        if self.unicode { fancy } else { ascii }
    }

    /// What stands where a text was cut.
    pub fn cut_mark(self) -> &'static str {
        if self.unicode { "…" } else { ".." }
    }
}

/// The colour of a phase.
pub fn ink(phase: Phase) -> Ink {
    match phase {
        Phase::Blocked | Phase::Skipped => Ink::Dim,
        Phase::Ready => Ink::Plain,
        Phase::Running => Ink::Live,
        Phase::Waiting | Phase::Cancelled => Ink::Wait,
        Phase::Succeeded => Ink::Good,
        Phase::Failed => Ink::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn check(choice: ColorChoice, terminal: bool, vars: &[(&str, &str)], color: bool, unicode: bool) {
        let var = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        assert_eq!(Style::detect(choice, terminal, &var), Style { color, unicode }, "{choice:?} {terminal} {vars:?}");
    }

    #[test]
    fn colour_follows_the_choice_then_the_environment() {
        check(ColorChoice::Auto, true, &[], true, false);
        check(ColorChoice::Auto, false, &[], false, false);
        check(ColorChoice::Auto, true, &[("NO_COLOR", "1")], false, false);
        check(ColorChoice::Auto, true, &[("NO_COLOR", "")], true, false);
        check(ColorChoice::Auto, true, &[("TERM", "dumb")], false, false);
        check(ColorChoice::Always, false, &[("NO_COLOR", "1")], true, false);
        check(ColorChoice::Never, true, &[], false, false);
    }

    #[test]
    fn unicode_follows_the_locale_that_counts() {
        check(ColorChoice::Never, true, &[("LANG", "en_US.UTF-8")], false, true);
        check(ColorChoice::Never, true, &[("LANG", "C.utf8")], false, true);
        check(ColorChoice::Never, true, &[("LANG", "en_US.UTF-8"), ("LC_ALL", "C")], false, false);
        check(ColorChoice::Never, true, &[("LANG", "C"), ("LC_CTYPE", "C.UTF-8"), ("LC_ALL", "")], false, true);
    }

    #[test]
    fn every_sign_is_one_column_wide() {
        for phase in [
            Phase::Blocked,
            Phase::Ready,
            Phase::Running,
            Phase::Waiting,
            Phase::Succeeded,
            Phase::Failed,
            Phase::Skipped,
            Phase::Cancelled,
        ] {
            for unicode in [true, false] {
                assert_eq!(text::width(Style { color: false, unicode }.glyph(phase)), 1, "{phase:?}");
            }
            assert!(Style::PLAIN.glyph(phase).is_ascii());
        }
    }
}
