//! DOT: for Graphviz, with groups as clusters.

use super::nested::{Nested, colours, pad};
use super::{Edge, Node, NodeKind, Sketch, safe};
use std::fmt::Write;

impl Sketch {
    /// The sketch as DOT.
    pub fn to_dot(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "digraph \"{}\" {{", safe::dot(&self.title));
        let title = self.run.map_or(String::new(), |head| format!(", run {}: {}", head.id.short(), head.sentence()));
        let _ = writeln!(text, "  label=\"{}\"; labelloc=t; compound=true;", safe::dot(&(self.title.clone() + &title)));
        text +=
            "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\", fontsize=11];\n";
        text += "  edge [fontname=\"sans-serif\", fontsize=9];\n";
        self.nested(|event| match event {
            Nested::Open(number, node, depth) => {
                let _ = writeln!(text, "{}subgraph cluster_{number} {{", pad(depth));
                let _ = writeln!(text, "{}label=\"{}\"; style=\"rounded,dashed\";", pad(depth + 1), title_of(node));
                // Edges need a node to end at: a point in the cluster that is not seen.
                let _ = writeln!(text, "{}n{number} [shape=point, style=invis, label=\"\"];", pad(depth + 1));
            }
            Nested::Leaf(number, node, depth) => {
                let _ = writeln!(text, "{}n{number} [{}];", pad(depth), attributes(node));
            }
            Nested::Close(depth) => {
                let _ = writeln!(text, "{}}}", pad(depth));
            }
        });
        let groups = self.groups();
        for edge in self.edges() {
            let more = joined(edge, &groups);
            let _ = writeln!(text, "  n{} -> n{}{more};", edge.from, edge.to);
        }
        text + "}\n"
    }
}

fn title_of(node: &Node) -> String {
    let line = node.line();
    if line.is_empty() { safe::dot(&node.label) } else { safe::dot(&format!("{}: {line}", node.label)) }
}

fn attributes(node: &Node) -> String {
    let line = node.line();
    let (label, line) = (safe::dot(&node.label), safe::dot(&line));
    // The line break is ours: everything else that looks like one was escaped.
    let label = if line.is_empty() { label } else { format!("{label}\\n{line}") };
    let mut text = format!("label=\"{label}\", tooltip=\"{}\"", safe::dot(&node.id));
    match node.kind {
        NodeKind::Gate => text += ", shape=hexagon",
        NodeKind::SubRun => text += ", shape=component",
        NodeKind::Spread => text += ", peripheries=2",
        NodeKind::Action | NodeKind::Command | NodeKind::Composite(_) => {}
    }
    if let Some(now) = node.now {
        let (fill, line) = colours(now.phase);
        let _ = write!(text, ", fillcolor=\"{fill}\", color=\"{line}\"");
    }
    text
}

/// The attributes of an edge.
fn joined(edge: &Edge, groups: &[bool]) -> String {
    let mut more = Vec::new();
    let label = edge.label();
    if !label.is_empty() {
        more.push(format!("label=\"{}\"", safe::dot(&label)));
    }
    for (key, end) in [("ltail", edge.from), ("lhead", edge.to)] {
        if groups[end as usize] {
            more.push(format!("{key}=cluster_{end}"));
        }
    }
    if let Some(fact) = edge.resolution {
        more.push(if edge.accepts.contains(fact) { "penwidth=1.6".into() } else { "style=dotted".to_owned() });
    }
    if more.is_empty() { String::new() } else { format!(" [{}]", more.join(", ")) }
}
