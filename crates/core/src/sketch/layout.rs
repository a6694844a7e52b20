//! Layered layout: where each box stands and which way each edge takes. Whole numbers only, so that the same sketch
//! comes out the same on every machine.
//!
//! Each group is laid out by itself, the innermost first, and then stands in its own group as one large box. Within one
//! level every edge points to a later layer; an edge over several layers has a place in each of them, so it never
//! crosses a box. Boxes of a layer are ordered so that few edges cross, then moved so that edges are straight.
//!
//! ```text
//! rank ──► layered (places for long edges) ──► order (few crossings) ──► place (straight) ──► route
//! ```

mod csr;
mod layered;
mod level;
mod order;
mod place;
mod rank;
mod route;

use super::Sketch;
use level::Level;

/// Which way edges point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From top to bottom.
    Down,
    /// From left to right.
    Right,
}

/// How wide and how high something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// From left to right.
    pub width: i32,
    /// From top to bottom.
    pub height: i32,
}

/// Where a box stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rect {
    /// Its left border.
    pub x: i32,
    /// Its upper border.
    pub y: i32,
    /// Its size.
    pub size: Size,
}

/// A place on the canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
}

/// What a medium wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spacing {
    /// Which way edges point.
    pub direction: Direction,
    /// Between two boxes of a layer.
    pub boxes: i32,
    /// Between two layers.
    pub layers: i32,
    /// What an edge takes where it passes a layer.
    pub track: i32,
    /// Around what is in a group.
    pub pad: i32,
    /// Above what is in a group, for its title.
    pub title: i32,
}

/// What is to be laid out: a sketch with the sizes that its parts have on a medium.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The sketch.
    pub sketch: &'a Sketch,
    /// The size of each node; of a group the least.
    pub boxes: &'a [Size],
    /// The size of each edge's label; nothing where it has none.
    pub labels: &'a [Size],
    /// What the medium wants.
    pub spacing: Spacing,
}

/// Where everything stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// The canvas.
    pub size: Size,
    /// The box of each node.
    pub boxes: Vec<Rect>,
    /// The layer of each node within its group.
    pub layers: Vec<u32>,
    points: Vec<Point>,
    ends: Vec<u32>,
}

impl Layout {
    /// The way of an edge: from the border of one box to the border of the other. It runs straight through layers and
    /// bends only between them. Empty for an edge that points backwards, which no plan has.
    pub fn route(&self, edge: usize) -> &[Point] {
        let from = if edge == 0 { 0 } else { self.ends[edge - 1] as usize };
        &self.points[from..self.ends[edge] as usize]
    }
}

/// Lays a sketch out.
pub fn layout(task: &Task<'_>) -> Layout {
    let nodes = task.sketch.nodes();
    let levels = Levels::of(task.sketch);
    let mut sizes: Vec<Size> = task.boxes.to_vec();
    let mut done: Vec<Option<Level>> = vec![None; nodes.len() + 1];
    // A group stands before what it holds: backwards, the innermost come first. The root is the last of all.
    for (number, place) in done.iter_mut().enumerate().rev() {
        let (members, edges) = levels.of_group(number);
        if members.is_empty() {
            continue;
        }
        let level = Level::lay(task, &sizes, &levels.own, (members, edges));
        if let Some(group) = number.checked_sub(1) {
            let (pad, title) = (task.spacing.pad, task.spacing.title);
            let least = task.boxes[group];
            sizes[group] = Size {
                width: (level.size.width + 2 * pad).max(least.width),
                height: (level.size.height + 2 * pad + title).max(least.height),
            };
        }
        *place = Some(level);
    }
    assemble(task, &levels, &sizes, &done)
}

/// Puts the levels into each other.
fn assemble(task: &Task<'_>, levels: &Levels, sizes: &[Size], done: &[Option<Level>]) -> Layout {
    let mut boxes: Vec<Rect> = sizes.iter().map(|size| Rect { x: 0, y: 0, size: *size }).collect();
    let mut layers = vec![0; boxes.len()];
    let mut ways: Vec<(u32, u32, Point)> = vec![(0, 0, Point::default()); task.sketch.edges().len()];
    let Spacing { pad, title, .. } = task.spacing;
    for (number, level) in done.iter().enumerate() {
        let Some(level) = level else { continue };
        let origin = match number.checked_sub(1) {
            None => Point { x: pad, y: pad },
            Some(group) => {
                // A group may be wider than what is in it: its title is long.
                let spare = boxes[group].size.width - 2 * pad - level.size.width;
                Point { x: boxes[group].x + pad + spare / 2, y: boxes[group].y + pad + title }
            }
        };
        let (members, edges) = levels.of_group(number);
        for (member, (at, layer)) in members.iter().zip(&level.places) {
            let number = *member as usize;
            boxes[number].x = origin.x + at.x;
            boxes[number].y = origin.y + at.y;
            layers[number] = *layer;
        }
        for (n, edge) in edges.iter().enumerate() {
            ways[*edge as usize] = (number as u32, n as u32, origin);
        }
    }
    let (mut points, mut ends) = (Vec::new(), Vec::with_capacity(ways.len()));
    for (level, edge, origin) in ways {
        let way = done[level as usize].as_ref().map_or(&[][..], |level| level.route(edge as usize));
        points.extend(way.iter().map(|p| Point { x: p.x + origin.x, y: p.y + origin.y }));
        ends.push(points.len() as u32);
    }
    let root = done[0].as_ref().map_or(Size::default(), |level| level.size);
    let size = Size { width: root.width + 2 * pad, height: root.height + 2 * pad };
    Layout { size, boxes, layers, points, ends }
}

/// Which nodes and edges are in which group; group 0 is the root, group n + 1 is within node n.
struct Levels {
    members: csr::Csr,
    edges: csr::Csr,
    /// The number of each node among the members of its group.
    own: Vec<u32>,
}

impl Levels {
    fn of(sketch: &Sketch) -> Self {
        let group = |inside: Option<u32>| inside.map_or(0, |group| group + 1);
        let groups = sketch.nodes().len() + 1;
        let members = sketch.nodes().iter().enumerate().map(|(n, node)| (group(node.inside), n as u32));
        let inside = |node: u32| group(sketch.nodes()[node as usize].inside);
        let edges = sketch.edges().iter().enumerate().map(|(n, edge)| (inside(edge.from), n as u32));
        let members = csr::Csr::of(groups, members);
        let mut own = vec![0; sketch.nodes().len()];
        for group in 0..groups {
            (0..).zip(members.of_row(group)).for_each(|(n, node)| own[*node as usize] = n);
        }
        Self { members, edges: csr::Csr::of(groups, edges), own }
    }

    fn of_group(&self, group: usize) -> (&[u32], &[u32]) {
        (self.members.of_row(group), self.edges.of_row(group))
    }
}

#[cfg(test)]
mod tests;
