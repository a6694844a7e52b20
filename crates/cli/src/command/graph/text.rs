//! A sketch in the terminal: its tracks, the names of its nodes, and what is worth saying about each.

use crate::style::{Ink, Style, ink};
use crate::text;
use edgewise_core::sketch::tracks::{self, Cell, DOWN, LEFT, RIGHT, Row, UP};
use edgewise_core::sketch::{Node, NodeKind, Sketch};
use edgewise_core::state::Phase;

/// The width that is assumed where there is no terminal.
const COLUMNS: usize = 100;
/// Longest name that widens the column of names.
const NAME: usize = 32;
/// Upstreams that are named where edges cannot be drawn.
const NAMED: usize = 4;

/// The whole picture.
pub(super) fn lines(sketch: &Sketch, style: Style, columns: Option<usize>) -> Vec<String> {
    let conditions = conditions(sketch);
    let paint = Paint { sketch, style, conditions };
    let mut lines = vec![paint.head(), String::new()];
    if sketch.nodes().is_empty() {
        lines.pop();
    }
    // Tracks that leave no room for names are worse than none.
    match tracks::rows(sketch, columns.unwrap_or(COLUMNS) / 2) {
        Some(rows) => lines.extend(paint.drawn(&rows)),
        None => lines.extend(paint.listed()),
    }
    match columns {
        Some(columns) => lines.iter().map(|line| text::cut(line, columns, style.cut_mark())).collect(),
        None => lines,
    }
}

/// Under which condition a node runs, where it is not plain success: `if test failed`.
fn conditions(sketch: &Sketch) -> Vec<Vec<String>> {
    let mut conditions = vec![Vec::new(); sketch.nodes().len()];
    for edge in sketch.edges() {
        let label = edge.label();
        if !label.is_empty() {
            let upstream = text::escape(&sketch.nodes()[edge.from as usize].label);
            conditions[edge.to as usize].push(format!("{upstream} {label}"));
        }
    }
    conditions
}

struct Paint<'a> {
    sketch: &'a Sketch,
    style: Style,
    conditions: Vec<Vec<String>>,
}

impl Paint<'_> {
    fn head(&self) -> String {
        let title = self.style.paint(Ink::Bold, &text::escape(&self.sketch.title));
        let Some(head) = &self.sketch.run else { return title };
        let phase = head.state.phase();
        let state = self.style.paint(ink(phase), &format!("{} {}", self.style.glyph(phase), head.sentence()));
        format!("{title}  run {}  {state}", head.id.short())
    }

    /// Lines with tracks.
    fn drawn(&self, rows: &[Row]) -> Vec<String> {
        let wide = rows.iter().filter(|row| row.node.is_some()).map(|row| row.cells.len()).max().unwrap_or(0);
        let names = self.name_column();
        let line = |row: &Row| {
            let tracks: String = row.cells.iter().map(|cell| self.cell(*cell)).collect();
            match row.node {
                Some(node) => format!("{}  {}", text::pad(&tracks, wide), self.about(node, names)),
                None => tracks.trim_end().to_owned(),
            }
        };
        rows.iter().map(line).collect()
    }

    /// Lines with the names of upstreams instead of tracks, for graphs that are too tangled to be drawn in text.
    fn listed(&self) -> Vec<String> {
        let names = self.name_column();
        let mut ups: Vec<Vec<u32>> = vec![Vec::new(); self.sketch.nodes().len()];
        self.sketch.edges().iter().for_each(|edge| ups[edge.to as usize].push(edge.from));
        let line = |(node, depth): (u32, usize)| {
            let before = format!("{}{}", "  ".repeat(depth), self.sign(node));
            let after = self.after(&ups[node as usize]);
            format!("{before}  {}{}", self.about(node, names), self.style.paint(Ink::Dim, &after))
        };
        tracks::in_order(self.sketch).into_iter().map(line).collect()
    }

    fn after(&self, ups: &[u32]) -> String {
        if ups.is_empty() {
            return String::new();
        }
        let name = |node: &u32| text::escape(&self.sketch.nodes()[*node as usize].label).into_owned();
        let named: Vec<String> = ups.iter().take(NAMED).map(name).collect();
        let more = if ups.len() > NAMED { format!(" and {} more", ups.len() - NAMED) } else { String::new() };
        format!("  after {}{more}", named.join(", "))
    }

    fn name_column(&self) -> usize {
        let wide = self.sketch.nodes().iter().map(|node| text::width(&text::escape(&node.label)));
        wide.max().unwrap_or(0).min(NAME)
    }

    /// `build   12/40, 3 running   if test failed`, or `build   if test failed   ci.build`
    fn about(&self, number: u32, names: usize) -> String {
        let node = &self.sketch.nodes()[number as usize];
        let name = text::cut(&text::escape(&node.label), NAME, self.style.cut_mark());
        let name = text::pad(&name, names);
        let (name, line) = match node.now {
            Some(now) => (self.style.paint(name_ink(now.phase), &name), self.style.paint(ink(now.phase), &node.line())),
            None => (name, self.style.paint(Ink::Dim, &text::escape(&node.note))),
        };
        let conditions = &self.conditions[number as usize];
        let condition = if conditions.is_empty() { String::new() } else { format!("if {}", conditions.join(", ")) };
        // How it goes matters most; what it does may be cut off, under which condition not.
        let condition = self.style.paint(Ink::Dim, &condition);
        let mut parts = if node.now.is_some() { [name, line, condition] } else { [name, condition, line] }.to_vec();
        parts.retain(|part| !part.is_empty());
        parts.join("  ").trim_end().to_owned()
    }

    fn cell(&self, cell: Cell) -> String {
        match cell {
            Cell::Blank => " ".to_owned(),
            Cell::Border => self.style.paint(Ink::Dim, if self.style.unicode { "┊" } else { ":" }),
            Cell::Node(node) => self.sign(node),
            Cell::Line { ways, of } => {
                let phase = of.and_then(|node| self.sketch.nodes()[node as usize].now).map(|now| now.phase);
                // A track is bright once its upstream has ended: then it says how.
                let over = phase.filter(|phase| matches!(phase, Phase::Succeeded | Phase::Failed));
                self.style.paint(over.map_or(Ink::Dim, ink), line_sign(ways, self.style.unicode))
            }
        }
    }

    fn sign(&self, number: u32) -> String {
        let node = &self.sketch.nodes()[number as usize];
        match node.now {
            Some(now) => self.style.paint(ink(now.phase), phase_sign(now.phase, self.style)),
            None => kind_sign(node, self.style.unicode).to_owned(),
        }
    }
}

/// What was left out is dim, all else is read first.
fn name_ink(phase: Phase) -> Ink {
    match phase {
        Phase::Skipped => Ink::Dim,
        Phase::Failed => Ink::Bad,
        _ => Ink::Plain,
    }
}

/// As everywhere, but for the dash of what was skipped, which would be a part of the line that leads to it.
fn phase_sign(phase: Phase, style: Style) -> &'static str {
    match phase {
        Phase::Skipped if style.unicode => "⊖",
        Phase::Skipped => "=",
        other => style.glyph(other),
    }
}

fn kind_sign(node: &Node, unicode: bool) -> &'static str {
    let (fancy, ascii) = match node.kind {
        NodeKind::Action | NodeKind::Command => ("○", "o"),
        NodeKind::Gate => ("◇", "?"),
        NodeKind::SubRun => ("▣", "%"),
        NodeKind::Spread => ("◎", "@"),
        NodeKind::Composite(_) => ("□", "#"),
    };
    if unicode { fancy } else { ascii }
}

fn line_sign(ways: u8, unicode: bool) -> &'static str {
    const ACROSS: u8 = LEFT | RIGHT;
    const ALONG: u8 = UP | DOWN;
    let (vertical, horizontal) = (ways & ALONG, ways & ACROSS);
    if !unicode {
        // No plus and no dot: these are signs of phases.
        return match (vertical, horizontal) {
            (0, _) => "-",
            (UP, RIGHT) => "`",
            (UP, _) => "'",
            (DOWN, _) => ",",
            _ => "|",
        };
    }
    match (vertical, horizontal) {
        (0, _) => "─",
        (_, 0) => "│",
        (UP, RIGHT) => "╰",
        (UP, LEFT) => "╯",
        (UP, _) => "┴",
        (DOWN, RIGHT) => "╭",
        (DOWN, LEFT) => "╮",
        (DOWN, _) => "┬",
        (_, RIGHT) => "├",
        (_, LEFT) => "┤",
        _ => "┼",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::plan::{Accepts, Resolution};
    use edgewise_core::sketch::{Edge, Now};

    const HOSTILE: [&str; 4] =
        ["a\u{1b}[2J\nb", "\u{202e}gnp.exe", "日本語のタスク名前日本語のタスク名前日本語", "<b> --> \"c\""];

    /// Nodes in a row of so many, each with an edge to all of the next row.
    fn rows(rows: u32, wide: u32, now: Option<Now>) -> Sketch {
        let mut sketch = Sketch::new("test\u{7}");
        for n in 0..rows * wide {
            let label = format!("{}{n}", HOSTILE[n as usize % HOSTILE.len()]);
            let note = "x\t".repeat(200);
            sketch.add(Node { id: n.to_string(), label, kind: NodeKind::Gate, note, inside: None, now });
        }
        for (row, from, to) in (1..rows).flat_map(|r| (0..wide).flat_map(move |a| (0..wide).map(move |b| (r, a, b)))) {
            let (from, to) = ((row - 1) * wide + from, row * wide + to);
            sketch.join(Edge { from, to, accepts: Accepts::of(Resolution::Failed), resolution: None });
        }
        sketch
    }

    #[test]
    fn every_line_fits_the_terminal_and_obeys_nobody() {
        let now = Now { phase: Phase::Skipped, attempt: 2, max_attempts: 3, count: None };
        for sketch in [rows(10, 5, None), rows(4, 2, Some(now)), rows(3, 40, None), Sketch::new("")] {
            for (unicode, columns) in [(true, 80), (false, 80), (true, 20), (false, 1)] {
                for line in lines(&sketch, Style { color: false, unicode }, Some(columns)) {
                    assert!(text::width(&line) <= columns, "{columns}: {line}");
                    assert_eq!(text::escape(&line), line, "control characters are shown");
                }
            }
        }
    }

    /// Fifty tasks as somebody would write them, in an ordinary terminal. Set `UPDATE_GOLDEN` to draw it anew, and look.
    #[test]
    fn fifty_tasks_are_drawn_and_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/looks/golden");
        let text = include_str!("../../../tests/looks/golden/fifty.yaml");
        let plan =
            edgewise_core::flow::compile(text, "fifty.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan;
        assert_eq!(plan.root().len(), 50);
        let sketch = Sketch::of_plan(&plan);
        let found = lines(&sketch, Style { color: false, unicode: true }, Some(100)).join("\n") + "\n";
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(format!("{folder}/fifty.txt"), &found).unwrap();
            return;
        }
        assert_eq!(found, include_str!("../../../tests/looks/golden/fifty.txt"));
        assert!(found.contains("├─○") && !found.contains(" after calendar"), "it is drawn and not listed");
        let gap = |line: &&str| line.chars().all(|c| " │".contains(c));
        assert!(found.lines().skip(2).filter(gap).count() < 8, "hardly a line is spent on keeping others apart");
    }

    #[test]
    fn a_tangle_is_listed_with_what_each_comes_after() {
        let lines = lines(&rows(2, 60, None), Style::PLAIN, None);
        assert_eq!(lines.len(), 2 + 120);
        assert!(lines.last().is_some_and(|line| line.ends_with(" and 56 more")), "{lines:?}");
    }
}
