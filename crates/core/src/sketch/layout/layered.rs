//! A level cut into layers, with a place in every layer for each edge that passes it.
//!
//! Places are bounded: edges that would take too many together (ten thousand nodes in a chain, each with an edge to
//! the last) go straight from box to box. The shortest edges get places first, since they are the ones eyes can follow.

use super::csr::Csr;
use super::rank;

/// Places for edges: so many for each node and edge, and so many besides.
const PLACES_EACH: usize = 4;
const PLACES: usize = 10_000;

/// Vertices (nodes first, then the places of edges), each in a layer, with segments between neighbouring layers.
pub(super) struct Layered {
    /// How many vertices are nodes.
    pub nodes: usize,
    /// The layer of each vertex.
    pub rank: Vec<u32>,
    /// The vertices of each layer.
    pub layers: Vec<Vec<u32>>,
    /// The neighbours of each vertex in the layer before.
    pub ups: Csr,
    /// The neighbours of each vertex in the layer after.
    pub downs: Csr,
    /// The way of each edge.
    pub ways: Vec<Way>,
}

/// How an edge is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Through so many places, the first of which is this vertex.
    Through(u32, u32),
    /// From box to box, over whatever is between.
    Straight,
    /// Not at all: it points backwards.
    None,
}

impl Layered {
    pub fn of(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut rank = rank::ranks(nodes, edges);
        let ways = ways(&mut rank, nodes, edges);
        let mut segments = Vec::with_capacity(edges.len() + rank.len() - nodes);
        for ((from, to), way) in edges.iter().zip(&ways) {
            if let Way::Through(first, count) = *way {
                let mut last = *from;
                for place in (first..first + count).chain([*to]) {
                    segments.push((last, place));
                    last = place;
                }
            }
        }
        let mut layers = vec![Vec::new(); rank.iter().max().map_or(0, |last| *last as usize + 1)];
        rank.iter().enumerate().for_each(|(vertex, rank)| layers[*rank as usize].push(vertex as u32));
        let downs = Csr::of(rank.len(), segments.iter().copied());
        let ups = Csr::of(rank.len(), segments.iter().map(|(up, down)| (*down, *up)));
        Self { nodes, rank, layers, ups, downs, ways }
    }

    pub fn is_node(&self, vertex: u32) -> bool {
        (vertex as usize) < self.nodes
    }
}

/// Gives each edge its places, and each place its rank.
fn ways(rank: &mut Vec<u32>, nodes: usize, edges: &[(u32, u32)]) -> Vec<Way> {
    let mut left = PLACES + PLACES_EACH * (nodes + edges.len());
    let mut by_length: Vec<u32> = (0..edges.len() as u32).collect();
    let length = |edge: u32, rank: &[u32]| {
        let (from, to) = edges[edge as usize];
        i64::from(rank[to as usize]) - i64::from(rank[from as usize])
    };
    let wanted: i64 = by_length.iter().map(|edge| length(*edge, rank).max(1) - 1).sum();
    if wanted > left as i64 {
        by_length.sort_by_key(|edge| length(*edge, rank));
    }
    let mut through = vec![Way::None; edges.len()];
    for edge in by_length {
        let length = length(edge, rank);
        if length <= 0 {
            continue;
        }
        let count = length as usize - 1;
        through[edge as usize] = if count > left { Way::Straight } else { Way::Through(0, count as u32) };
        left = left.saturating_sub(count);
    }
    // In the order of the edges, so that places begin where their edges do.
    for (way, (from, _)) in through.iter_mut().zip(edges) {
        if let Way::Through(first, count) = way {
            *first = rank.len() as u32;
            let begin = rank[*from as usize] + 1;
            rank.extend(begin..begin + *count);
        }
    }
    through
}
