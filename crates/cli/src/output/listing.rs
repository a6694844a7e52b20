//! A list that is printed while it is made: a run may have millions of events, and memory for a page of them is enough.

use super::{Format, Printer, Row};
use crate::problem::Result;
use crate::table::Columns;

/// Rows that are printed together, so that their columns line up.
const PAGE: usize = 1_000;

/// A list under way; [`Listing::end`] prints what is left.
pub struct Listing<'a> {
    printer: &'a mut Printer,
    columns: Columns,
    page: Vec<Row>,
    printed: usize,
}

impl<'a> Listing<'a> {
    pub(super) fn new(printer: &'a mut Printer, header: &[&str]) -> Self {
        Self { printer, columns: Columns::new(header), page: Vec::new(), printed: 0 }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row) -> Result<()> {
        self.page.push(row);
        if self.page.len() == PAGE { self.turn() } else { Ok(()) }
    }

    /// Prints what is left, and the end of it.
    pub fn end(mut self) -> Result<()> {
        self.turn()?;
        match self.printer.format {
            _ if self.printer.quiet => Ok(()),
            Format::Json if self.printed == 0 => self.printer.raw("[]"),
            Format::Json => self.printer.raw("\n]"),
            Format::Table | Format::Jsonl => Ok(()),
        }
    }

    fn turn(&mut self) -> Result<()> {
        let page = std::mem::take(&mut self.page);
        let printer = &mut *self.printer;
        if printer.quiet {
            page.iter().try_for_each(|row| printer.line(&row.id))?;
        } else {
            match printer.format {
                Format::Table => {
                    if self.printed == 0 {
                        page.iter().for_each(|row| self.columns.widen(&row.cells));
                        let head = self.columns.head(printer.out_style, printer.columns);
                        printer.raw(&head)?;
                    }
                    for row in &page {
                        self.columns.widen(&row.cells);
                        let line = self.columns.line(&row.cells, printer.out_style, printer.columns);
                        printer.raw(&line)?;
                    }
                }
                Format::Json => {
                    for (n, row) in page.iter().enumerate() {
                        let before = if self.printed + n == 0 { "[\n  " } else { ",\n  " };
                        printer.part(before)?;
                        printer.part(&row.value)?;
                    }
                }
                Format::Jsonl => page.iter().try_for_each(|row| printer.raw(&row.value))?,
            }
        }
        self.printed += page.len();
        Ok(())
    }
}
