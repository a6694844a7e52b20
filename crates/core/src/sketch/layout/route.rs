//! Ways of edges: straight through layers, bending only between them, where no box stands.
//!
//! Plain edges meet in the middle of a box. Where an in-edge has a label, every in-edge of that box gets a port of its
//! own, wide enough for its label, and the label stands on the last straight piece before the arrow.

use super::Point;
use super::csr::Csr;
use super::layered::{Layered, Way};
use super::level::Plane;

/// Between two ports.
const PORTS: i32 = 8;
/// An edge may go across this many times as far as it goes along, until it has so much more room.
const FLATTEST: i32 = 8;
const BEND: i32 = 64;
/// Room for an arrow behind a label.
const ARROW: i32 = 12;

/// Where each layer begins and ends along.
pub(super) struct Bands {
    bands: Vec<(i32, i32)>,
    /// How long the last straight piece before each layer is.
    stubs: Vec<i32>,
}

impl Bands {
    pub fn of(plane: &Plane<'_>, layered: &Layered, middles: &[i32]) -> Self {
        let count = layered.layers.len();
        let mut thick = vec![0; count];
        for (along, rank) in plane.along.iter().zip(&layered.rank) {
            let thick = &mut thick[*rank as usize];
            *thick = (*thick).max(*along);
        }
        let mut stubs = vec![0; count];
        for ((_, to), (along, _)) in plane.edges.iter().zip(&plane.labels).filter(|(_, label)| label.0 > 0) {
            let stub = &mut stubs[layered.rank[*to as usize] as usize];
            *stub = (*stub).max(along + ARROW);
        }
        let bends = bends(layered, middles);
        let mut next = 0;
        let bands = thick.iter().zip(&stubs).enumerate().map(|(n, (thick, stub))| {
            let start = if n == 0 { 0 } else { next + plane.task.spacing.layers + stub + bends[n] };
            next = start + thick;
            (start, next)
        });
        Self { bands: bands.collect(), stubs }
    }

    pub fn start(&self, rank: u32) -> i32 {
        self.bands[rank as usize].0
    }

    pub fn end(&self) -> i32 {
        self.bands.last().map_or(0, |band| band.1)
    }
}

/// How much more room edges need to bend before each layer: those that go far across would lie flat otherwise.
fn bends(layered: &Layered, middles: &[i32]) -> Vec<i32> {
    let mut bends = vec![0; layered.layers.len()];
    for (vertex, rank) in layered.rank.iter().enumerate() {
        for up in layered.ups.of_row(vertex) {
            let far = middles[vertex].abs_diff(middles[*up as usize]) as i32;
            let bend = &mut bends[*rank as usize];
            *bend = (*bend).max((far / FLATTEST).min(BEND));
        }
    }
    bends
}

/// The ways of all edges of a level.
#[derive(Debug, Clone)]
pub(super) struct Routes {
    points: Vec<Point>,
    ends: Vec<u32>,
}

impl Routes {
    pub fn of(plane: &Plane<'_>, layered: &Layered, bands: &Bands, middles: &[i32]) -> Self {
        let ports = ports(plane, layered, middles);
        let mut routes = Self { points: Vec::with_capacity(plane.edges.len() * 3), ends: Vec::new() };
        for (edge, way) in layered.ways.iter().enumerate() {
            let (from, to) = plane.edges[edge];
            let begin = bands.start(layered.rank[from as usize]) + plane.along[from as usize];
            let into = layered.rank[to as usize];
            let first = routes.points.len();
            let mut go = |along: i32, across: i32| routes.points.push(plane.point(along, across));
            if *way != Way::None {
                go(begin, middles[from as usize]);
                go(bands.bands[layered.rank[from as usize] as usize].1, middles[from as usize]);
            }
            if let Way::Through(place, count) = *way {
                for place in place..place + count {
                    let (start, end) = bands.bands[layered.rank[place as usize] as usize];
                    go(start - bands.stubs[layered.rank[place as usize] as usize], middles[place as usize]);
                    go(end, middles[place as usize]);
                }
            }
            if *way != Way::None {
                go(bands.start(into) - bands.stubs[into as usize], ports[edge]);
                go(bands.start(into), ports[edge]);
            }
            routes.straighten(first);
            routes.ends.push(routes.points.len() as u32);
        }
        routes
    }

    pub fn of_edge(&self, edge: usize) -> &[Point] {
        let from = if edge == 0 { 0 } else { self.ends[edge - 1] as usize };
        &self.points[from..self.ends[edge] as usize]
    }

    /// Leaves out points on a straight line, from a point on.
    fn straighten(&mut self, first: usize) {
        let mut kept = first;
        for at in first..self.points.len() {
            let point = self.points[at];
            if kept > first && self.points[kept - 1] == point {
                continue;
            }
            let on_line = kept >= first + 2 && {
                let (a, b) = (self.points[kept - 2], self.points[kept - 1]);
                (a.x == b.x && b.x == point.x) || (a.y == b.y && b.y == point.y)
            };
            if on_line {
                kept -= 1;
            }
            self.points[kept] = point;
            kept += 1;
        }
        self.points.truncate(kept);
    }
}

/// Where each edge meets its downstream node, across.
fn ports(plane: &Plane<'_>, layered: &Layered, middles: &[i32]) -> Vec<i32> {
    let mut ports: Vec<i32> = plane.edges.iter().map(|(_, to)| middles[*to as usize]).collect();
    let ins = Csr::of(layered.nodes, plane.edges.iter().enumerate().map(|(n, (_, to))| (*to, n as u32)));
    for node in 0..layered.nodes {
        let edges = ins.of_row(node);
        if edges.len() < 2 || edges.iter().all(|edge| plane.labels[*edge as usize].0 == 0) {
            continue;
        }
        let mut sorted = edges.to_vec();
        sorted.sort_by_key(|edge| match layered.ways[*edge as usize] {
            Way::Through(first, count) if count > 0 => middles[(first + count - 1) as usize],
            _ => middles[plane.edges[*edge as usize].0 as usize],
        });
        let wide = |edge: &u32| plane.labels[*edge as usize].1 + PORTS;
        let total: i32 = sorted.iter().map(wide).sum();
        // More labels than fit: they move together rather than out of the box.
        let room = total.min(plane.across[node] - PORTS).max(0);
        let mut used = 0;
        for edge in &sorted {
            let middle = used + wide(edge) / 2;
            ports[*edge as usize] =
                middles[node] - room / 2 + (i64::from(middle) * i64::from(room) / i64::from(total.max(1))) as i32;
            used += wide(edge);
        }
    }
    ports
}
