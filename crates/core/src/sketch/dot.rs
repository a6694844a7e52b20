//! DOT: for Graphviz, with groups as clusters.

use super::nested::{Nested, colours, pad};
use super::{Edge, Node, NodeKind, Sketch, safe};
use std::fmt::Write;

/// What all have in common: quiet lines, one family of letters also for titles, and room between clusters.
const LOOK: &str = "  graph [labelloc=t, compound=true, fontname=\"sans-serif\", fontsize=12, nodesep=0.3, ranksep=0.45];
  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#8c959f\", fontname=\"sans-serif\", fontsize=11];
  edge [color=\"#6e7781\", fontcolor=\"#57606a\", arrowsize=0.7, fontname=\"sans-serif\", fontsize=9];
";
/// Longest second line of a box, in characters; all of it is where the pointer rests.
const LINE: usize = 48;

impl Sketch {
    /// The sketch as DOT.
    pub fn to_dot(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "digraph \"{}\" {{", safe::dot(&self.title));
        let title = self.run.map_or(String::new(), |head| format!(", run {}: {}", head.id.short(), head.sentence()));
        text += LOOK;
        let _ = writeln!(text, "  label=\"{}\";", safe::dot(&(self.title.clone() + &title)));
        self.nested(|event| match event {
            Nested::Open(number, node, depth) => {
                let _ = writeln!(text, "{}subgraph cluster_{number} {{", pad(depth));
                let style = "style=\"rounded,dashed\"; color=\"#8c959f\"";
                let _ = writeln!(text, "{}label=\"{}\"; {style};", pad(depth + 1), title_of(node));
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
        let (groups, ends) = (self.groups(), self.ends());
        for edge in self.edges() {
            let more = joined(edge, &groups);
            let _ = writeln!(text, "  n{} -> n{}{more};", ends[edge.from as usize], edge.to);
        }
        text + "}\n"
    }
}

impl Sketch {
    /// Where the edges of each node leave it: a group at the last that it holds, so that what follows it stands below
    /// it and not beside it.
    fn ends(&self) -> Vec<u32> {
        let groups = self.groups();
        let mut ends: Vec<u32> = (0..self.nodes().len() as u32).collect();
        for (number, node) in (0..).zip(self.nodes()).filter(|(number, _)| !groups[*number as usize]) {
            let mut inside = node.inside;
            while let Some(group) = inside {
                ends[group as usize] = number;
                inside = self.nodes()[group as usize].inside;
            }
        }
        ends
    }
}

fn title_of(node: &Node) -> String {
    let line = short(&node.line());
    // `for: for each of rows` says the same twice.
    match line.strip_prefix(node.label.as_str()) {
        _ if line.is_empty() => safe::dot(&node.label),
        Some(rest) if rest.starts_with([' ', '(']) => safe::dot(&line),
        _ => safe::dot(&format!("{}: {line}", node.label)),
    }
}

/// As much of a line as a box should be wide.
fn short(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn attributes(node: &Node) -> String {
    let (whole, line) = (node.line(), safe::dot(&short(&node.line())));
    let label = safe::dot(&node.label);
    // The line break is ours: everything else that looks like one was escaped.
    let label = if line.is_empty() { label } else { format!("{label}\\n{line}") };
    let tip = if whole.chars().count() > LINE { format!("{}: {whole}", node.id) } else { node.id.clone() };
    let mut text = format!("label=\"{label}\", tooltip=\"{}\"", safe::dot(&tip));
    match node.kind {
        // A hexagon would be twice as wide as what stands in it.
        NodeKind::Gate => text += ", style=\"filled,diagonals\"",
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
