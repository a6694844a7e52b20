//! The one way out: commands hand rows to a [`Printer`], which knows who reads them.
//!
//! Data goes to stdout, talk to stderr. A person gets a table, a program JSON, a script ids. Whoever stops
//! reading early (`edgewise runs | head`) ends the command without a word.

mod listing;

pub use listing::Listing;

use crate::problem::{Problem, Result};
use crate::style::{Ink, Style};
use crate::table::{self, Cell};
use crate::text;
use edgewise_core::Kind;
use serde::{Deserialize, Serialize};
use std::io::Write;

/// How data is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    Jsonl,
}

/// One thing that is printed: its id, its cells for people, its value for programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    id: String,
    cells: Vec<Cell>,
    /// Compact JSON, in the order of the value's fields.
    value: String,
}

impl Row {
    /// A row of a table; what is printed of it depends on the format.
    pub fn new(id: impl Into<String>, cells: Vec<Cell>, value: &impl Serialize) -> Result<Self> {
        let value = serde_json::to_string(value).map_err(|error| unprintable(&error))?;
        Ok(Self { id: id.into(), cells, value })
    }

    /// What people see of it.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// Who reads, and where to.
pub struct Printer {
    out: Box<dyn Write>,
    err: Box<dyn Write>,
    /// How data is printed.
    pub format: Format,
    /// Only ids, and no talk.
    pub quiet: bool,
    /// What stdout can show.
    pub out_style: Style,
    /// What stderr can show.
    pub err_style: Style,
    /// The width of the terminal, if stdout is one.
    pub columns: Option<usize>,
}

impl Printer {
    /// A printer onto two streams, plain until told otherwise.
    pub fn new(out: Box<dyn Write>, err: Box<dyn Write>) -> Self {
        let (out_style, err_style) = (Style::PLAIN, Style::PLAIN);
        Self { out, err, format: Format::Table, quiet: false, out_style, err_style, columns: None }
    }

    /// Whether a person reads the data, so that commands may draw instead of list.
    pub fn for_people(&self) -> bool {
        self.format == Format::Table && !self.quiet
    }

    /// Prints a list: a table, an array, or one line each.
    pub fn rows(&mut self, header: &[&str], rows: &[Row]) -> Result<()> {
        if self.quiet {
            return rows.iter().try_for_each(|row| self.line(&row.id));
        }
        match self.format {
            Format::Table => {
                let cells = rows.iter().map(|row| row.cells.as_slice());
                let lines = table::lines(header, cells, self.out_style, self.columns);
                lines.iter().try_for_each(|line| self.raw(line))
            }
            Format::Json if rows.is_empty() => self.raw("[]"),
            Format::Json => {
                let values: Vec<&str> = rows.iter().map(|row| row.value.as_str()).collect();
                self.raw(&format!("[\n  {}\n]", values.join(",\n  ")))
            }
            Format::Jsonl => rows.iter().try_for_each(|row| self.raw(&row.value)),
        }
    }

    /// A list that is too long to be held: rows are printed as they come.
    pub fn listing(&mut self, header: &[&str]) -> Listing<'_> {
        Listing::new(self, header)
    }

    /// Prints one thing: the lines for people (already painted, their data escaped), else its value or its id.
    pub fn one(&mut self, id: impl Into<String>, lines: &[String], value: &impl Serialize) -> Result<()> {
        if self.quiet {
            return self.line(&id.into());
        }
        match self.format {
            Format::Table => lines.iter().try_for_each(|line| self.raw(line)),
            Format::Json => self.raw(&serde_json::to_string_pretty(value).map_err(|error| unprintable(&error))?),
            Format::Jsonl => self.raw(&serde_json::to_string(value).map_err(|error| unprintable(&error))?),
        }
    }

    /// Prints a line of data that came from outside, as a log has it: tabs stay, other control characters are shown.
    pub fn line(&mut self, line: &str) -> Result<()> {
        let line = text::escape_log(line).into_owned();
        self.raw(&line)
    }

    /// Says something that is not data: to stderr, and not at all with `-q`.
    pub fn say(&mut self, line: &str) {
        if !self.quiet {
            let line = text::escape(line);
            // Both streams are often one terminal: what was printed before must stand before.
            let _ = self.out.flush();
            // Talk that cannot be heard changes nothing about what was done.
            let _ = writeln!(self.err, "{line}");
        }
    }

    /// Says something beside: the same as [`Printer::say`], dimmed, and only to people.
    pub fn aside(&mut self, line: &str) {
        if self.for_people() {
            let _ = self.out.flush();
            let _ = writeln!(self.err, "{}", self.err_style.paint(Ink::Dim, &text::escape(line)));
        }
    }

    /// Tells what went wrong: in words, or as JSON if the reader is a program.
    pub fn problem(&mut self, problem: &Problem) {
        if problem.is_quiet() {
            return;
        }
        let told = match self.format {
            Format::Table => words(problem, self.err_style),
            Format::Json | Format::Jsonl => problem.to_json().to_string(),
        };
        let _ = self.out.flush();
        let _ = writeln!(self.err, "{told}");
    }

    /// Makes sure that everything has left: at the end, and whenever more is waited for.
    pub fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Problem::output(&error))
    }

    /// Prints a line that is already painted, its data escaped.
    pub fn raw(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}").map_err(|error| Problem::output(&error))
    }

    /// Prints bytes that were asked for as they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|error| Problem::output(&error))
    }

    fn part(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }
}

fn unprintable(error: &serde_json::Error) -> Problem {
    Problem::new(Kind::Bug, "unprintable", "a value has no JSON form").why(error.to_string())
}

fn words(problem: &Problem, style: Style) -> String {
    let mut told = String::new();
    let parts = [
        (Ink::Bad, "error", Some(&problem.what)),
        (Ink::Dim, "  why", problem.why.as_ref()),
        (Ink::Live, "  next", problem.next.as_ref()),
    ];
    for (ink, label, text) in parts {
        let Some(text) = text else { continue };
        // A message of several lines (all problems of a flow) stays one; each line is made harmless by itself.
        let lines: Vec<_> = text.lines().map(text::escape_log).collect();
        let label_shown = style.paint(ink, &format!("{label}:"));
        let indent = format!("\n{}", " ".repeat(label.len() + 2));
        told += &format!("{label_shown} {}\n", lines.join(&indent));
    }
    told.truncate(told.trim_end().len());
    told
}

#[cfg(test)]
mod tests;
