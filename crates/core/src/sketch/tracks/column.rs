//! Which track runs in which column, line after line.

use super::walk::Walk;
use super::{Cell, DOWN, LEFT, RIGHT, UP};

/// Edges that run down together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Track {
    /// All that a node leads to, with how many of them are still to come.
    From(u32, usize),
    /// All that leads to a node and to nothing else.
    To(u32),
}

/// The tracks that are open.
pub(super) struct Columns<'a> {
    walk: &'a Walk<'a>,
    tracks: Vec<Option<Track>>,
    /// What stood in each column of the line before.
    above: Vec<Option<u32>>,
    /// How many upstreams of each node have no line yet.
    unplaced: Vec<usize>,
}

/// A node's tracks: those that end at it and those that go on, by column.
#[derive(Default)]
struct Ins {
    ending: Vec<usize>,
    passing: Vec<usize>,
}

impl<'a> Columns<'a> {
    pub fn new(walk: &'a Walk<'a>) -> Self {
        let unplaced = (0..walk.count() as u32).map(|node| walk.ups(node).len()).collect();
        Self { walk, tracks: Vec::new(), above: Vec::new(), unplaced }
    }

    /// The tracks that are open, as a line that shows nothing else.
    pub fn passing(&self) -> Vec<Cell> {
        let mut cells = Vec::with_capacity(self.tracks.len() * 2);
        for track in &self.tracks {
            cells.extend([track.map_or(Cell::Blank, |track| line(track, UP | DOWN)), Cell::Blank]);
        }
        cells
    }

    /// The line of the next node, and the line that must stand before it, if any.
    pub fn put(&mut self, node: u32) -> (Option<Vec<Cell>>, Vec<Cell>) {
        let ins = self.ins(node);
        let at = self.column(&ins);
        if self.tracks.len() <= at {
            self.tracks.resize(at + 1, None);
        }
        let apart = self.must_be_apart(node, at, &ins).then(|| self.passing());
        let out = self.out(node, at, &ins);
        let cells = self.draw(node, at, &ins, out);
        for column in ins.ending {
            self.tracks[column] = None;
        }
        for column in ins.passing {
            if let Some(Track::From(_, left)) = &mut self.tracks[column] {
                *left -= 1;
            }
        }
        match out {
            Some(column) => self.tracks[column] = self.walk.downs(node).first().map(|down| Track::To(*down)),
            None => {
                let downs = self.walk.downs(node).len();
                self.tracks[at] = (downs > 0).then_some(Track::From(node, downs));
            }
        }
        while self.tracks.last().is_some_and(Option::is_none) {
            self.tracks.pop();
        }
        self.above.clear();
        self.above.resize(at + 1, None);
        self.above[at] = Some(node);
        for down in self.walk.downs(node) {
            self.unplaced[*down as usize] -= 1;
        }
        (apart, cells)
    }

    fn ins(&self, node: u32) -> Ins {
        let mut ins = Ins::default();
        let ups = self.walk.ups(node);
        for (column, track) in self.tracks.iter().enumerate() {
            match track {
                Some(Track::To(down)) if *down == node => ins.ending.push(column),
                Some(Track::From(up, left)) if ups.binary_search(up).is_ok() => {
                    if *left == 1 { &mut ins.ending } else { &mut ins.passing }.push(column);
                }
                _ => {}
            }
        }
        ins
    }

    /// Where a node stands: right of every track that it needs and that goes on, since a line on its right leaves it.
    fn column(&self, ins: &Ins) -> usize {
        let from = ins.passing.last().map_or(0, |last| last + 1);
        // A track of one upstream that ends here is gone on with, so that chains are straight.
        let is_from = |column: &&usize| matches!(self.tracks[**column], Some(Track::From(..)));
        if let Some(straight) = ins.ending.iter().filter(|column| **column >= from).find(is_from) {
            return *straight;
        }
        let free = |column: &usize| {
            self.tracks.get(*column).is_none_or(|track| track.is_none() || ins.ending.contains(column))
        };
        (from..).find(free).unwrap_or(from)
    }

    /// Whether something must show that a node follows the one above, or that it does not.
    fn must_be_apart(&self, node: u32, at: usize, ins: &Ins) -> bool {
        let Some(above) = self.above.get(at).copied().flatten() else { return false };
        let follows = self.walk.ups(node).binary_search(&above).is_ok() && ins.ending.contains(&at);
        let beside = ins.ending.len() + ins.passing.len() - usize::from(follows);
        if follows { beside > 0 } else { beside == 0 }
    }

    /// The column to the right into which a node leads: of a track for those that lead to the same node and nowhere else.
    fn out(&mut self, node: u32, at: usize, ins: &Ins) -> Option<usize> {
        let [down] = *self.walk.downs(node) else { return None };
        let others = self.unplaced[down as usize] > 1;
        // What comes in from the right and what leaves to the right would be one line.
        if ins.ending.last().is_some_and(|last| *last > at) {
            return None;
        }
        let known = (at + 1..self.tracks.len()).find(|column| self.tracks[*column] == Some(Track::To(down)));
        if known.is_some() || !others {
            return known;
        }
        let free = |column: &usize| self.tracks.get(*column).is_none_or(Option::is_none);
        let column = (at + 1..).find(free)?;
        if self.tracks.len() <= column {
            self.tracks.resize(column + 1, None);
        }
        Some(column)
    }

    fn draw(&self, node: u32, at: usize, ins: &Ins, out: Option<usize>) -> Vec<Cell> {
        let mut cells = self.passing();
        cells.truncate((2 * self.tracks.len()).saturating_sub(1));
        for column in &ins.ending {
            if let Some(track) = self.tracks[*column] {
                cells[2 * column] = line(track, UP);
            }
        }
        if let Some(column) = out {
            let begun = self.tracks[column].is_some();
            let ways = if begun { UP | DOWN } else { DOWN };
            cells[2 * column] =
                Cell::Line { ways, of: self.tracks[column].and_then(of).or(Some(node).filter(|_| !begun)) };
        }
        cells[2 * at] = Cell::Node(node);
        let ends = ins.ending.iter().chain(&ins.passing).copied().filter(|column| *column != at);
        for column in ends.chain(out) {
            reach(&mut cells, 2 * at, 2 * column, &ins_and(ins, out));
        }
        cells
    }
}

/// The cells whose tracks a line may join on its way.
fn ins_and(ins: &Ins, out: Option<usize>) -> Vec<usize> {
    ins.ending.iter().chain(&ins.passing).copied().chain(out).map(|column| 2 * column).collect()
}

/// Draws a line from a node to a track. Tracks that are none of its own pass over it.
fn reach(cells: &mut [Cell], node: usize, track: usize, own: &[usize]) {
    let (towards, away) = if track < node { (RIGHT, LEFT) } else { (LEFT, RIGHT) };
    let (first, last) = (node.min(track), node.max(track));
    for (at, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
        let add = match at {
            _ if at == node => continue,
            _ if at == track => towards,
            _ => towards | away,
        };
        match cell {
            Cell::Line { ways, .. } if own.contains(&at) || *ways & (UP | DOWN) == 0 => *ways |= add,
            Cell::Line { .. } | Cell::Node(_) | Cell::Border => {}
            blank @ Cell::Blank => *blank = Cell::Line { ways: add, of: None },
        }
    }
}

fn line(track: Track, ways: u8) -> Cell {
    Cell::Line { ways, of: of(track) }
}

fn of(track: Track) -> Option<u32> {
    match track {
        Track::From(node, _) => Some(node),
        Track::To(_) => None,
    }
}
