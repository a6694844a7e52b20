//! One level: the nodes of one group, laid out as if there was nothing else.
//!
//! Everything here is along (from layer to layer) and across (within a layer); which of them is up and down is decided
//! at the end.

use super::layered::Layered;
use super::route::{Bands, Routes};
use super::{Direction, Point, Size, Task, order, place};

/// One level, laid out, from its own corner.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub size: Size,
    /// Where each member stands, and in which layer.
    pub places: Vec<(Point, u32)>,
    routes: Routes,
}

/// A level before it is drawn.
pub(super) struct Plane<'a> {
    pub task: &'a Task<'a>,
    /// Edges between members.
    pub edges: Vec<(u32, u32)>,
    /// How much each edge's label takes, along and across.
    pub labels: Vec<(i32, i32)>,
    /// How much each vertex takes along.
    pub along: Vec<i32>,
    /// How much each vertex takes across.
    pub across: Vec<i32>,
}

impl Level {
    /// Lays out the members of one group and the edges between them; `own` numbers nodes within their groups.
    pub fn lay(task: &Task<'_>, sizes: &[Size], own: &[u32], (members, edges): (&[u32], &[u32])) -> Self {
        let mut plane = Plane::of(task, sizes, own, (members, edges));
        let mut layered = Layered::of(members.len(), &plane.edges);
        plane.along.resize(layered.rank.len(), 0);
        plane.across.resize(layered.rank.len(), task.spacing.track);
        order::order(&mut layered);
        let mut middles = place::place(&layered, &plane.across, task.spacing.boxes);
        let ends = middles
            .iter()
            .zip(&plane.across)
            .map(|(middle, extent)| (middle - extent / 2, middle + extent - extent / 2));
        let (first, last) = ends.fold((i32::MAX, i32::MIN), |(a, b), (x, y)| (a.min(x), b.max(y)));
        middles.iter_mut().for_each(|middle| *middle -= first);
        let bands = Bands::of(&plane, &layered, &middles);
        let routes = Routes::of(&plane, &layered, &bands, &middles);
        let corner = |node: usize| {
            let rank = layered.rank[node];
            (plane.point(bands.start(rank), middles[node] - plane.across[node] / 2), rank)
        };
        let places = (0..members.len()).map(corner).collect();
        Self { size: plane.size(bands.end(), last - first), places, routes }
    }

    /// The way of the n-th edge of the level.
    pub fn route(&self, edge: usize) -> &[Point] {
        self.routes.of_edge(edge)
    }
}

impl<'a> Plane<'a> {
    fn of(task: &'a Task<'a>, sizes: &[Size], own: &[u32], (members, edges): (&[u32], &[u32])) -> Self {
        let own = |node: u32| own[node as usize];
        let all = task.sketch.edges();
        let turned = |size: Size| match task.spacing.direction {
            Direction::Down => (size.height, size.width),
            Direction::Right => (size.width, size.height),
        };
        let edge_list: Vec<(u32, u32)> =
            edges.iter().map(|n| all[*n as usize]).map(|e| (own(e.from), own(e.to))).collect();
        let labels: Vec<(i32, i32)> = edges.iter().map(|n| turned(task.labels[*n as usize])).collect();
        let (along, across): (Vec<i32>, Vec<i32>) = members.iter().map(|n| turned(sizes[*n as usize])).unzip();
        Self { task, edges: edge_list, labels, along, across }
    }

    /// From along and across to the canvas.
    pub fn point(&self, along: i32, across: i32) -> Point {
        match self.task.spacing.direction {
            Direction::Down => Point { x: across, y: along },
            Direction::Right => Point { x: along, y: across },
        }
    }

    fn size(&self, along: i32, across: i32) -> Size {
        let Point { x, y } = self.point(along, across);
        Size { width: x, height: y }
    }
}
