//! Tracks: a graph as lines of text, one node each, with the edges drawn beside them.
//!
//! Edges run down in tracks. A node's upstreams come in from its left or from above, what it leads to leaves on its
//! right or below; so a line can be read without knowing the rest:
//!
//! ```text
//! ○        root
//! ├─○─╮    left          a track of `root` for all it leads to, and one into `join`
//! ╰─○─┤    right         the last that `root` leads to
//! ○───╯    join
//! ○        end           nothing is drawn beside it: it follows the one above
//! ```
//!
//! What is in a group stands below the group's line, behind a dotted line of its own.

mod column;
mod walk;

use super::Sketch;
use column::Columns;
use walk::Walk;

/// Groups within groups are shown to this depth; what lies deeper is left out.
const DEPTH: usize = 12;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What is drawn, one cell for each column of the terminal.
    pub cells: Vec<Cell>,
    /// The node that stands on the line; `None` for a line that only keeps others apart.
    pub node: Option<u32>,
}

/// One character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cell {
    /// Nothing.
    #[default]
    Blank,
    /// Lines from the middle to [`UP`], [`DOWN`], [`LEFT`], [`RIGHT`].
    Line {
        /// Which ways.
        ways: u8,
        /// The node whose edges run here, where it is one.
        of: Option<u32>,
    },
    /// The sign of a node.
    Node(u32),
    /// The border of a group.
    Border,
}

/// A line upwards.
pub const UP: u8 = 1;
/// A line downwards.
pub const DOWN: u8 = 2;
/// A line to the left.
pub const LEFT: u8 = 4;
/// A line to the right.
pub const RIGHT: u8 = 8;

/// The lines of a sketch; `None` if they would be wider than so many columns.
pub fn rows(sketch: &Sketch, width: usize) -> Option<Vec<Row>> {
    let walk = Walk::of(sketch);
    let mut rows = Vec::new();
    level(&walk, None, &[], (width, DEPTH), &mut rows)?;
    Some(rows)
}

/// The nodes in the order in which lines show them, each with its depth.
pub fn in_order(sketch: &Sketch) -> Vec<(u32, usize)> {
    let walk = Walk::of(sketch);
    // What is left of each level that was begun, the innermost last.
    let mut begun = vec![walk.order(None)];
    begun[0].reverse();
    let mut ordered = Vec::new();
    while let Some(left) = begun.last_mut() {
        let Some(node) = left.pop() else {
            begun.pop();
            continue;
        };
        ordered.push((node, begun.len() - 1));
        let mut members = walk.order(Some(node));
        members.reverse();
        begun.push(members);
    }
    ordered
}

/// The lines of one group, behind what stands to the left of it.
fn level(
    walk: &Walk<'_>,
    group: Option<u32>,
    before: &[Cell],
    (width, depth): (usize, usize),
    rows: &mut Vec<Row>,
) -> Option<()> {
    let mut columns = Columns::new(walk);
    for node in walk.order(group) {
        let (apart, cells) = columns.put(node);
        if before.len() + cells.len() > width {
            return None;
        }
        let whole = |cells: Vec<Cell>| [before, &cells].concat();
        rows.extend(apart.map(|cells| Row { cells: whole(cells), node: None }));
        rows.push(Row { cells: whole(cells), node: Some(node) });
        if depth > 0 && walk.is_group(node) {
            let mut beside = whole(columns.passing());
            beside.extend([Cell::Border, Cell::Blank]);
            level(walk, Some(node), &beside, (width, depth - 1), rows)?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
