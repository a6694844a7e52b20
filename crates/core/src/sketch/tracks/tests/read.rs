//! Reads edges off the lines as a person would: from each node to its right and down, wherever lines lead.

use super::{Cell, DOWN, LEFT, RIGHT, Row, UP};
use std::collections::BTreeSet;

/// Lines to be read.
pub(super) struct Page<'a>(pub &'a [Row]);

impl Page<'_> {
    pub fn edges(&self) -> BTreeSet<(u32, u32)> {
        let mut edges = BTreeSet::new();
        for (number, row) in self.0.iter().enumerate() {
            let Some(node) = row.node else { continue };
            let at = row.cells.iter().position(|cell| *cell == Cell::Node(node)).expect("it stands on its line");
            let right = self.joined(number, at, 1).into_iter().filter(|column| self.ways(number, *column) & DOWN != 0);
            for column in right {
                self.follow(number + 1, column, &mut |down| _ = edges.insert((node, down)));
            }
            if !self.is_only_near(number, at) {
                self.follow(number + 1, at, &mut |down| _ = edges.insert((node, down)));
            }
        }
        edges
    }

    fn cell(&self, row: usize, column: isize) -> Cell {
        let column = usize::try_from(column).unwrap_or(usize::MAX);
        self.0.get(row).and_then(|row| row.cells.get(column)).copied().unwrap_or_default()
    }

    fn ways(&self, row: usize, column: usize) -> u8 {
        match self.cell(row, column as isize) {
            Cell::Line { ways, .. } => ways,
            _ => 0,
        }
    }

    /// The tracks that a line from a column to one side joins; it goes on over those that it passes.
    fn joined(&self, row: usize, from: usize, step: isize) -> Vec<usize> {
        let (towards, away) = if step > 0 { (LEFT, RIGHT) } else { (RIGHT, LEFT) };
        let mut joined = Vec::new();
        let mut column = from as isize + step;
        while column >= 0 {
            let here = self.ways(row, column as usize);
            let passed = here == UP | DOWN && self.ways(row, (column - step) as usize) & away != 0;
            if here & towards != 0 && here & (UP | DOWN) != 0 {
                joined.push(column as usize);
            }
            if !passed && here & away == 0 {
                break;
            }
            column += step;
        }
        joined
    }

    /// Whether the sign below a sign has a line beside it that comes from above: then it does not hang on that sign.
    fn is_only_near(&self, row: usize, at: usize) -> bool {
        let below = row + 1;
        let fed = |step: isize| {
            let comes = |ways: u8| ways & UP != 0 && (step < 0 || ways & DOWN == 0);
            self.joined(below, at, step).into_iter().any(|column| comes(self.ways(below, column)))
        };
        matches!(self.cell(below, at as isize), Cell::Node(_)) && (fed(-1) || fed(1))
    }

    /// Goes down a track and sees every node that it feeds.
    fn follow(&self, mut row: usize, column: usize, see: &mut dyn FnMut(u32)) {
        loop {
            match self.cell(row, column as isize) {
                Cell::Node(below) => return see(below),
                Cell::Line { ways, .. } if ways & UP != 0 => {
                    // A node to the right of a track that joins it is fed by it; one to the left only where it ends.
                    let ends = ways & DOWN == 0;
                    let left = self.end(row, column, -1).filter(|_| ends && ways & LEFT != 0);
                    let right = || self.end(row, column, 1).filter(|_| ways & RIGHT != 0);
                    left.or_else(right).into_iter().for_each(&mut *see);
                    if ends {
                        return;
                    }
                    row += 1;
                }
                _ => return,
            }
        }
    }

    /// The node at the end of a line.
    fn end(&self, row: usize, column: usize, step: isize) -> Option<u32> {
        let mut at = column as isize + step;
        while matches!(self.cell(row, at), Cell::Line { .. }) {
            at += step;
        }
        match self.cell(row, at) {
            Cell::Node(node) => Some(node),
            _ => None,
        }
    }
}
