//! Places across: each vertex as near as it can be to its neighbours, in its order and without touching.
//!
//! For one layer this is a problem with one exact answer: the sum of squared distances is least when vertices that
//! push each other stand as a block at the mean of what they want. Sweeps down and up solve layer after layer. Places
//! of edges weigh most, so that long edges are straight and boxes give way.

use super::csr::Csr;
use super::layered::{Layered, Way};

/// Behind the point, so that means do not drift.
const FINE: i64 = 16;
/// What sweeps together may cost, in vertices and segments seen.
const WORK: usize = 800_000;
const SWEEPS: usize = 12;
/// What is nearer to a straight line than this is made one.
const NEAR: i64 = 40 * FINE;
/// What would be seen as a mistake of the drawing, also where a box has other edges on that side.
const JOG: i64 = 6 * FINE;

/// The middle of each vertex across, given how much each takes there.
pub(super) fn place(level: &Layered, extent: &[i32], gap: i32) -> Vec<i32> {
    let mut across =
        Across { level, extent, gap: i64::from(gap) * FINE, at: vec![0; extent.len()], blocks: Vec::new() };
    across.pack();
    let size = level.rank.len() + level.ups.len();
    let sweeps = (WORK / size.max(1)).clamp(2, SWEEPS) & !1;
    for sweep in 0..sweeps {
        across.sweep(if sweep % 2 == 0 { Look::Up } else { Look::Down });
    }
    across.sweep(Look::Up);
    across.sweep(Look::Both);
    across.sweep(Look::Chain);
    across.straighten();
    across.at.iter().map(|at| at.div_euclid(FINE) as i32).collect()
}

/// Which neighbours a sweep goes by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Up,
    Down,
    /// Boxes go to the middle of all their neighbours; places of edges stay where they are.
    Both,
    /// Boxes with one edge on a side that are nearly in line with it go all the way; everything else stays.
    Chain,
}

struct Across<'a> {
    level: &'a Layered,
    extent: &'a [i32],
    gap: i64,
    at: Vec<i64>,
    blocks: Vec<Block>,
}

/// Vertices that stand side by side: how many, what they weigh, and the sum of what they want.
#[derive(Clone, Copy)]
struct Block {
    count: usize,
    weight: i64,
    sum: i64,
}

impl Block {
    fn mean(self) -> i64 {
        self.sum.div_euclid(self.weight)
    }
}

impl Across<'_> {
    /// Every layer side by side, around the middle.
    fn pack(&mut self) {
        for layer in &self.level.layers {
            let width: i64 = layer.windows(2).map(|pair| self.apart(pair[0], pair[1])).sum();
            let mut next = -width / 2;
            for (n, vertex) in layer.iter().enumerate() {
                if n > 0 {
                    next += self.apart(layer[n - 1], *vertex);
                }
                self.at[*vertex as usize] = next;
            }
        }
    }

    /// How far the middles of two neighbours are from each other at least.
    fn apart(&self, left: u32, right: u32) -> i64 {
        let extents = i64::from(self.extent[left as usize]) + i64::from(self.extent[right as usize]);
        // Edges that pass side by side need no gap besides their own tracks.
        let tracks = !self.level.is_node(left) && !self.level.is_node(right);
        (extents * FINE).div_euclid(2) + if tracks { 0 } else { self.gap }
    }

    fn sweep(&mut self, look: Look) {
        let count = self.level.layers.len();
        for step in 0..count {
            let number = if look == Look::Down { count - 1 - step } else { step };
            self.settle(&self.level.layers[number], look);
        }
    }

    /// Solves one layer. What a vertex wants is counted from where it would stand if all were packed; in these terms
    /// the order says that wishes must not fall, and those that do are put together until they rise.
    fn settle(&mut self, layer: &[u32], look: Look) {
        self.blocks.clear();
        let mut packed = 0;
        for (n, vertex) in layer.iter().enumerate() {
            if n > 0 {
                packed += self.apart(layer[n - 1], *vertex);
            }
            let (want, weight) = self.wish(*vertex, look);
            let mut block = Block { count: 1, weight, sum: (want - packed) * weight };
            while let Some(last) = self.blocks.last().copied().filter(|last| last.mean() >= block.mean()) {
                self.blocks.pop();
                block = Block {
                    count: last.count + block.count,
                    weight: last.weight + block.weight,
                    sum: last.sum + block.sum,
                };
            }
            self.blocks.push(block);
        }
        let (mut n, mut packed) = (0, 0);
        for block in std::mem::take(&mut self.blocks) {
            let mean = block.mean();
            for _ in 0..block.count {
                if n > 0 {
                    packed += self.apart(layer[n - 1], layer[n]);
                }
                self.at[layer[n] as usize] = mean + packed;
                n += 1;
            }
        }
    }

    /// Where a vertex would like to stand, and how much that counts.
    fn wish(&self, vertex: u32, look: Look) -> (i64, i64) {
        let (ups, downs) = (&self.level.ups, &self.level.downs);
        let node = self.level.is_node(vertex);
        let (mut sum, mut weight) = (0, 0);
        let mut count = |of: &Csr| {
            for other in of.of_row(vertex as usize) {
                let pull = if node || self.level.is_node(*other) { 2 } else { 32 };
                sum += self.at[*other as usize] * pull;
                weight += pull;
            }
        };
        match look {
            Look::Both if !node => return (self.at[vertex as usize], 64),
            Look::Chain => return (self.in_line(vertex).unwrap_or(self.at[vertex as usize]), 64),
            Look::Up => count(ups),
            Look::Down => count(downs),
            Look::Both => {
                count(ups);
                count(downs);
            }
        }
        if weight == 0 { (self.at[vertex as usize], 1) } else { (sum.div_euclid(weight), weight) }
    }

    /// Moves long edges that run nearly below the box they begin at, or above the one they end at, all the way.
    fn straighten(&mut self) {
        let mut place = vec![(0u32, 0u32); self.at.len()];
        for (rank, layer) in self.level.layers.iter().enumerate() {
            layer.iter().enumerate().for_each(|(n, vertex)| place[*vertex as usize] = (rank as u32, n as u32));
        }
        for way in &self.level.ways {
            let Way::Through(first, count @ 1..) = *way else { continue };
            let (up, down) =
                (self.level.ups.of_row(first as usize), self.level.downs.of_row((first + count - 1) as usize));
            let end = |list: &[u32]| list.first().map(|node| self.at[*node as usize]);
            let mut aims = [end(up), end(down)].into_iter().flatten();
            let free = |aim: &i64| (first..first + count).all(|vertex| self.is_free(vertex, *aim, &place));
            if let Some(aim) = aims.find(free) {
                self.at[first as usize..(first + count) as usize].fill(aim);
            }
        }
    }

    /// Whether a vertex may go to a near place without touching its neighbours.
    fn is_free(&self, vertex: u32, aim: i64, place: &[(u32, u32)]) -> bool {
        let (rank, n) = place[vertex as usize];
        let (layer, n) = (&self.level.layers[rank as usize], n as usize);
        let left = n.checked_sub(1).map(|n| layer[n]);
        let right = layer.get(n + 1).copied();
        self.at[vertex as usize].abs_diff(aim) <= NEAR.unsigned_abs()
            && left.is_none_or(|left| aim - self.at[left as usize] >= self.apart(left, vertex))
            && right.is_none_or(|right| self.at[right as usize] - aim >= self.apart(vertex, right))
    }

    /// Where a box would be in line with its only neighbour on a side, if that is near.
    fn in_line(&self, vertex: u32) -> Option<i64> {
        let (ups, downs) = (&self.level.ups, &self.level.downs);
        let (own_ups, own_downs) = (ups.of_row(vertex as usize), downs.of_row(vertex as usize));
        let near = |other: &&u32| {
            let apart = self.at[**other as usize].abs_diff(self.at[vertex as usize]);
            !self.level.is_node(**other) && apart <= JOG.unsigned_abs()
        };
        let want = match (own_ups, own_downs) {
            _ if !self.level.is_node(vertex) => return None,
            ([up], _) if downs.of_row(*up as usize).len() == 1 => *up,
            (_, [down]) if !self.level.is_node(*down) => *down,
            _ => *own_downs.iter().chain(own_ups).find(near)?,
        };
        let (want, at) = (self.at[want as usize], self.at[vertex as usize]);
        (want.abs_diff(at) <= NEAR.unsigned_abs()).then_some(want)
    }
}
