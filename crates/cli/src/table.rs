//! Tables for people: no borders, two spaces between columns, a dim header. The last column may be cut.

use crate::style::{Ink, Style};
use crate::text;

/// One cell: text from anywhere, and the colour it is shown in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    text: String,
    ink: Ink,
}

impl Cell {
    /// A cell in a colour. Control characters in it are made harmless.
    pub fn new(text: impl AsRef<str>, ink: Ink) -> Self {
        Self { text: text::escape(text.as_ref()).into_owned(), ink }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Ink::Plain)
    }
}

/// The space between two columns.
const GAP: usize = 2;

/// The lines of a table: the header in capitals, then the rows. `columns` is the room there is, if it is known.
pub fn lines<'a>(
    header: &[&str],
    rows: impl Iterator<Item = &'a [Cell]> + Clone,
    style: Style,
    columns: Option<usize>,
) -> Vec<String> {
    let mut table = Columns::new(header);
    rows.clone().for_each(|row| table.widen(row));
    let mut lines = vec![table.head(style, columns)];
    lines.extend(rows.map(|row| table.line(row, style, columns)));
    lines
}

/// The columns of a table that is printed bit by bit: each as wide as what it has seen.
pub struct Columns {
    header: Vec<Cell>,
    widths: Vec<usize>,
}

impl Columns {
    /// Columns with these names.
    pub fn new(header: &[&str]) -> Self {
        let header: Vec<Cell> = header.iter().map(|name| Cell::new(name.to_uppercase(), Ink::Dim)).collect();
        let widths = header.iter().map(|cell| text::width(&cell.text)).collect();
        Self { header, widths }
    }

    /// Makes room for a row.
    pub fn widen(&mut self, row: &[Cell]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = (*width).max(text::width(&cell.text));
        }
    }

    /// The line of names.
    pub fn head(&self, style: Style, columns: Option<usize>) -> String {
        line(&self.header, &self.widths, style, columns)
    }

    /// The line of a row that there is room for.
    pub fn line(&self, row: &[Cell], style: Style, columns: Option<usize>) -> String {
        line(row, &self.widths, style, columns)
    }
}

fn line(row: &[Cell], widths: &[usize], style: Style, columns: Option<usize>) -> String {
    let mut line = String::new();
    let mut begun = 0;
    for (i, (cell, width)) in row.iter().zip(widths).enumerate() {
        let last = i + 1 == row.len();
        let shown = match columns {
            Some(columns) if last => text::cut(&cell.text, columns.saturating_sub(begun), style.cut_mark()),
            _ => cell.text.clone(),
        };
        let space = if last { 0 } else { width + GAP - text::width(&shown) };
        line += &style.paint(cell.ink, &shown);
        line += &" ".repeat(space);
        begun += width + GAP;
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(style: Style, columns: Option<usize>) -> Vec<String> {
        let rows: [Vec<Cell>; 2] = [
            vec!["k3f9x2ab".into(), Cell::new("succeeded", Ink::Good), "release".into()],
            vec!["0000".into(), Cell::new("failed", Ink::Bad), "a\u{1b}[31m".into()],
        ];
        lines(&["run", "state", "flow"], rows.iter().map(Vec::as_slice), style, columns)
    }

    #[test]
    fn columns_line_up_and_nothing_trails() {
        assert_eq!(
            table(Style::PLAIN, None),
            ["RUN       STATE      FLOW", "k3f9x2ab  succeeded  release", "0000      failed     a\\u{1b}[31m"]
        );
    }

    #[test]
    fn the_last_column_is_cut_to_the_room_there_is() {
        assert_eq!(table(Style::PLAIN, Some(26))[1], "k3f9x2ab  succeeded  rel..");
    }

    #[test]
    fn colour_does_not_disturb_the_columns() {
        let style = Style { color: true, unicode: true };
        let plain: Vec<usize> = table(Style::PLAIN, None).iter().map(|line| text::width(line)).collect();
        let colored: Vec<usize> = table(style, None).iter().map(|line| text::width(line)).collect();
        assert_eq!(plain, colored);
        assert!(table(style, None)[1].contains("\u{1b}[32msucceeded\u{1b}[0m"));
    }

    #[test]
    fn without_rows_there_is_still_a_header() {
        assert_eq!(lines(&["run"], std::iter::empty(), Style::PLAIN, None), ["RUN"]);
    }
}
