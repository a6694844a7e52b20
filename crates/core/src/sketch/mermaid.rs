//! Mermaid: for pages that draw it themselves.

use super::layout::Direction;
use super::nested::{Nested, colours, pad};
use super::{Node, NodeKind, Sketch, safe, svg};
use crate::state::Phase;
use std::collections::BTreeMap;
use std::fmt::Write;

impl Sketch {
    /// The sketch as a Mermaid flowchart.
    pub fn to_mermaid(&self) -> String {
        let direction = match svg::lay(self).direction {
            Direction::Down => "TD",
            Direction::Right => "LR",
        };
        let run = self.run.map_or(String::new(), |head| format!(", run {}: {}", head.id.short(), head.sentence()));
        // A title in quotes: what stands in it is a string of YAML there.
        let title = safe::mermaid(&format!("{}{run}", self.title));
        let mut text = format!("---\ntitle: \"{title}\"\n---\nflowchart {direction}\n");
        self.nested(|event| match event {
            Nested::Open(number, node, depth) => {
                let _ = writeln!(text, "{}subgraph n{number}[\"{}\"]", pad(depth), label(node));
            }
            Nested::Leaf(number, node, depth) => {
                let (open, close) = shape(node.kind);
                let _ = writeln!(text, "{}n{number}{open}\"{}\"{close}", pad(depth), label(node));
            }
            Nested::Close(depth) => {
                let _ = writeln!(text, "{}end", pad(depth));
            }
        });
        for edge in self.edges() {
            let refused = edge.resolution.is_some_and(|fact| !edge.accepts.contains(fact));
            let arrow = if refused { "-.->" } else { "-->" };
            let label = edge.label();
            let label = if label.is_empty() { label } else { format!("|{label}|") };
            let _ = writeln!(text, "  n{} {arrow}{label} n{}", edge.from, edge.to);
        }
        self.classes(&mut text);
        text
    }

    fn classes(&self, text: &mut String) {
        let mut by_phase: BTreeMap<Phase, Vec<String>> = BTreeMap::new();
        for (number, node) in self.nodes().iter().enumerate() {
            if let Some(now) = node.now {
                by_phase.entry(now.phase).or_default().push(format!("n{number}"));
            }
        }
        for (phase, nodes) in by_phase {
            let (word, (fill, line)) = (phase.word(), colours(phase));
            let _ = writeln!(text, "  classDef {word} fill:{fill},stroke:{line},color:#1f2328");
            let _ = writeln!(text, "  class {} {word}", nodes.join(","));
        }
    }
}

fn shape(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Action | NodeKind::Command | NodeKind::Composite(_) => ("[", "]"),
        NodeKind::Gate => ("{{", "}}"),
        NodeKind::SubRun => ("[/", "/]"),
        NodeKind::Spread => ("[[", "]]"),
    }
}

fn label(node: &Node) -> String {
    let line = node.line();
    let name = safe::mermaid(&node.label);
    if line.is_empty() { name } else { format!("{name}<br/>{}", safe::mermaid(&line)) }
}
