//! Tracks, as they look; and that every edge can be followed in them.

mod read;

use super::*;
use crate::plan::Accepts;
use crate::sketch::{Edge, Node, NodeKind};
use proptest::prelude::*;
use read::Page;
use std::collections::BTreeSet;

fn sketch(nodes: &[(&str, Option<u32>)], edges: &[(u32, u32)]) -> Sketch {
    let mut sketch = Sketch::new("test");
    for (id, inside) in nodes {
        let (id, label) = ((*id).to_owned(), (*id).to_owned());
        sketch.add(Node { id, label, kind: NodeKind::Action, note: String::new(), inside: *inside, now: None });
    }
    for (from, to) in edges {
        sketch.join(Edge { from: *from, to: *to, accepts: Accepts::SUCCESS, resolution: None });
    }
    sketch
}

fn sign(cell: Cell) -> char {
    match cell {
        Cell::Blank => ' ',
        Cell::Border => ':',
        Cell::Node(_) => 'o',
        Cell::Line { ways, .. } => {
            [' ', '?', '?', '│', '?', '╯', '╮', '┤', '?', '╰', '╭', '├', '─', '┴', '┬', '┼'][ways as usize]
        }
    }
}

fn drawn(sketch: &Sketch) -> Vec<String> {
    let rows = rows(sketch, 60).expect("it fits");
    let line = |row: &Row| {
        let tracks: String = row.cells.iter().map(|cell| sign(*cell)).collect();
        let name = row.node.map_or("", |node| &sketch.nodes()[node as usize].label);
        format!("{tracks} {name}").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn check(nodes: &[(&str, Option<u32>)], edges: &[(u32, u32)], expected: &[&str]) {
    assert_eq!(drawn(&sketch(nodes, edges)), expected);
}

#[test]
fn chains_run_down_and_strangers_are_kept_apart() {
    check(&[("a", None), ("b", None), ("c", None)], &[(0, 1)], &["o a", "o b", "", "o c"]);
}

#[test]
fn a_fan_meets_again_in_one_track() {
    let nodes = [("a", None), ("b", None), ("c", None), ("d", None), ("e", None)];
    let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)];
    check(&nodes, &edges, &["o a", "├─o─╮ b", "├─o─┤ c", "o───┤ d", "o───╯ e"]);
}

#[test]
fn a_track_that_is_passed_is_not_joined() {
    let nodes = [("a", None), ("b", None), ("c", None), ("d", None)];
    check(&nodes, &[(0, 2), (1, 2), (1, 3), (0, 3)], &["o a", "│ o b", "├─┼─o c", "o─╯ d"]);
    let nodes = [("a", None), ("b", None), ("c", None), ("d", None), ("e", None)];
    check(&nodes, &[(0, 1), (0, 2), (1, 3), (1, 4), (2, 4)], &["o a", "├─o b", "│ ├─o d", "o │ c", "│ │", "o─╯ e"]);
    let nodes = [("a", None), ("b", None), ("c", None), ("d", None)];
    check(&nodes, &[(0, 2), (0, 3), (1, 3)], &["o a", "├─o c", "│", "│ o b", "o─╯ d"]);
}

#[test]
fn what_comes_in_from_the_right_does_not_seem_to_go_on() {
    let nodes = [("a", None), ("b", None), ("c", None), ("d", None), ("e", None), ("f", None)];
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 5), (4, 5)];
    check(&nodes, &edges, &["o a", "├─o─╮ b", "o───┤ c", "o───╯ d", "│ o e", "o─╯ f"]);
}

#[test]
fn what_is_in_a_group_stands_below_it() {
    let nodes = [("a", None), ("g", None), ("z", None), ("x", Some(1)), ("y", Some(1))];
    check(&nodes, &[(0, 1), (1, 2), (3, 4)], &["o a", "o g", "│ : o x", "│ : o y", "o z"]);
}

#[test]
fn what_would_be_too_wide_is_not_drawn() {
    let names: Vec<String> = (0..60).map(|n| format!("n{n}")).collect();
    let nodes: Vec<(&str, Option<u32>)> = names.iter().map(|name| (name.as_str(), None)).collect();
    let edges: Vec<(u32, u32)> = (0..30).flat_map(|up| (30..60).map(move |down| (up, down))).collect();
    let mesh = sketch(&nodes, &edges);
    assert!(rows(&mesh, 40).is_none());
    assert_eq!(in_order(&mesh).len(), 60);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_edge_can_be_read_off_the_lines_and_no_other(
        count in 1..14usize,
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..24),
    ) {
        let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
        let nodes: Vec<(&str, Option<u32>)> = names.iter().map(|name| (name.as_str(), None)).collect();
        let pairs = pairs.into_iter().map(|(a, b)| (a.index(count) as u32, b.index(count) as u32));
        let edges: BTreeSet<(u32, u32)> = pairs.filter(|(a, b)| a < b).collect();
        let edges: Vec<(u32, u32)> = edges.into_iter().collect();
        let sketch = sketch(&nodes, &edges);
        let rows = rows(&sketch, 200).expect("it fits");
        prop_assert_eq!(Page(&rows).edges().into_iter().collect::<Vec<_>>(), edges, "{}", drawn(&sketch).join("\n"));
    }
}
