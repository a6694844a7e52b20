//! The parts of an SVG picture, each as text.

use super::look::mark;
use super::{BOX_HEIGHT, Laid, NAME, SMALL};
use crate::plan::Resolution;
use crate::sketch::layout::{Direction, Point, Rect};
use crate::sketch::{Edge, Node, NodeKind, Sketch, measure, safe};
use crate::state::Phase;
use std::fmt::Write;

/// What the legend explains.
const LEGEND: [Phase; 8] = [
    Phase::Blocked,
    Phase::Ready,
    Phase::Running,
    Phase::Waiting,
    Phase::Succeeded,
    Phase::Failed,
    Phase::Skipped,
    Phase::Cancelled,
];

/// A picture under way.
pub(super) struct Parts<'a> {
    pub text: String,
    sketch: &'a Sketch,
    laid: &'a Laid,
    groups: Vec<bool>,
}

impl<'a> Parts<'a> {
    pub fn new(sketch: &'a Sketch, laid: &'a Laid) -> Self {
        Self { text: String::new(), sketch, laid, groups: sketch.groups() }
    }

    pub fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub fn header(&mut self, left: i32) {
        let mut at = left;
        if let Some(head) = &self.sketch.run {
            let phase = head.state.phase();
            self.line(&format!("<g class=\"{}\">{}</g>", phase.word(), sign(phase, at + 8, 27)));
            at += 26;
        }
        // One text: how wide the title comes out depends on the reader's font.
        let (title, subtitle) = (safe::xml(&self.sketch.headline()), safe::xml(&self.sketch.subtitle()));
        self.line(&format!(
            "<text x=\"{at}\" y=\"32\"><tspan class=\"title\">{title}</tspan>\
             <tspan class=\"subtitle\" dx=\"12\">{subtitle}</tspan></text>"
        ));
    }

    /// Groups lie below everything, the outer ones first.
    pub fn groups(&mut self) {
        for number in (0..self.groups.len()).filter(|n| self.groups[*n]).collect::<Vec<_>>() {
            let (node, at) = (&self.sketch.nodes()[number], self.laid.layout.boxes[number]);
            let (open, mut left) = (opening(node), at.x + 14);
            self.line(&format!("{open}<rect class=\"group\" {} rx=\"10\"/>", place(at)));
            if let Some(now) = node.now {
                self.line(&sign(now.phase, left + 5, at.y + 19));
                left += 18;
            }
            let room = at.size.width - (left - at.x) - 14;
            let name = measure::cut(&safe::plain(&node.label), NAME, room);
            let after = left + measure::width(&name, NAME) + 10;
            let note = measure::cut(&safe::plain(&node.line()), SMALL, (at.x + at.size.width - 10 - after).max(0));
            self.line(&words("name", left, at.y + 24, &name));
            self.line(&format!("{}</g>", words("note", after, at.y + 24, &note)));
        }
    }

    pub fn edges(&mut self) {
        for (number, edge) in self.sketch.edges().iter().enumerate() {
            let way = self.laid.layout.route(number);
            let [.., last] = way else { continue };
            let class = edge_class(edge);
            let path = curve(way, self.laid.direction);
            self.line(&format!("<path class=\"edge{class}\" d=\"{path}\"/>"));
            let (Point { x, y }, back) = (*last, 7);
            let tip = match self.laid.direction {
                Direction::Down => format!("M{x} {y}l-4 -{back}h8z"),
                Direction::Right => format!("M{x} {y}l-{back} -4v8z"),
            };
            self.line(&format!("<path class=\"tip{class}\" d=\"{tip}\"/>"));
            let label = &self.laid.labels[number];
            if !label.is_empty() {
                let half = measure::width(label, SMALL) / 2;
                let (x, y) = match self.laid.direction {
                    Direction::Down => (x, y - 12),
                    Direction::Right => (x - half - 12, y + 4),
                };
                self.line(&words("label", x, y, label));
            }
        }
    }

    pub fn nodes(&mut self) {
        for number in (0..self.groups.len()).filter(|n| !self.groups[*n]).collect::<Vec<_>>() {
            let (node, at) = (&self.sketch.nodes()[number], self.laid.layout.boxes[number]);
            let text = drawn(node, at);
            self.line(&text);
        }
    }

    pub fn legend(&mut self, left: i32, y: i32) {
        let mut at = left;
        for phase in LEGEND {
            let word = phase.word();
            let text = words("note", at + 18, y, word);
            self.line(&format!("<g class=\"{word}\">{}{text}</g>", sign(phase, at + 7, y - 4)));
            at += 18 + measure::width(word, SMALL) + 14;
        }
    }
}

/// How wide the legend is.
pub(super) fn legend_width() -> i32 {
    LEGEND.iter().map(|phase| 32 + measure::width(phase.word(), SMALL)).sum()
}

/// A node with all that stands in it.
fn drawn(node: &Node, at: Rect) -> String {
    let mut text = opening(node);
    // Boxes that are widened for labels may be higher than one: their text stays in the middle.
    let top = at.y + (at.size.height - BOX_HEIGHT) / 2;
    let radius = if node.kind == NodeKind::Gate { at.size.height / 2 } else { 7 };
    if node.kind == NodeKind::Spread {
        let behind = Rect { x: at.x + 4, y: at.y + 4, ..at };
        let _ = write!(text, "<rect class=\"box\" {} rx=\"{radius}\"/>", place(behind));
    }
    let _ = write!(text, "<rect class=\"box\" {} rx=\"{radius}\"/>", place(at));
    let inset = if node.kind == NodeKind::Gate { 16 } else { 12 };
    let mut left = at.x + inset;
    if let Some(now) = node.now {
        text += &sign(now.phase, left + 6, top + BOX_HEIGHT / 2);
        left += 22;
    }
    let room = at.x + at.size.width - left - 10;
    let line = node.line();
    let name = measure::cut(&safe::plain(&node.label), NAME, room);
    let note = measure::cut(&safe::plain(&line), SMALL, room);
    if note.is_empty() {
        text += &words("name", left, top + 28, &name);
    } else {
        text += &words("name", left, top + 20, &name);
        text += &words("note", left, top + 36, &note);
    }
    if let Some(count) = node.now.and_then(|now| now.count).filter(|count| count.total > 0) {
        let wide = i64::from(at.size.width - 16);
        let done = wide * i64::from(count.done) / i64::from(count.total);
        let (x, y) = (at.x + 8, at.y + at.size.height - 5);
        let _ = write!(text, "<rect class=\"bar\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"2\"/>");
        let _ = write!(text, "<rect class=\"done\" x=\"{x}\" y=\"{y}\" width=\"{done}\" height=\"2\"/>");
    }
    text + "</g>"
}

/// The beginning of a node, with all that is known of it where a pointer rests.
fn opening(node: &Node) -> String {
    let class = node.now.map_or(node.kind.word(), |now| now.phase.word());
    let mut about = vec![format!("{} ({})", node.id, node.kind.word())];
    about.extend((!node.note.is_empty()).then(|| node.note.clone()));
    about.extend(node.now.is_some().then(|| node.line()));
    let about: Vec<String> = about.iter().map(|line| safe::xml(line)).collect();
    format!("<g class=\"{class}\"><title>{}</title>", about.join("\n"))
}

fn place(at: Rect) -> String {
    format!("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", at.x, at.y, at.size.width, at.size.height)
}

fn sign(phase: Phase, x: i32, y: i32) -> String {
    format!(
        "<g transform=\"translate({x} {y})\"><circle class=\"sign\" r=\"7\"/><path class=\"mark\" d=\"{}\"/></g>",
        mark(phase)
    )
}

fn words(class: &str, x: i32, y: i32, text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", safe::xml(text))
}

/// Lines where the way is straight, curves between layers.
fn curve(way: &[Point], direction: Direction) -> String {
    let mut path = format!("M{} {}", way[0].x, way[0].y);
    for pair in way.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let _ = match direction {
            Direction::Down if a.x == b.x => write!(path, "V{}", b.y),
            Direction::Right if a.y == b.y => write!(path, "H{}", b.x),
            Direction::Down => {
                let middle = (a.y + b.y) / 2;
                write!(path, "C{} {middle} {} {middle} {} {}", a.x, b.x, b.x, b.y)
            }
            Direction::Right => {
                let middle = (a.x + b.x) / 2;
                write!(path, "C{middle} {} {middle} {} {} {}", a.y, b.y, b.x, b.y)
            }
        };
    }
    path
}

/// An edge has the colour of how it ended; one that was refused is dotted.
fn edge_class(edge: &Edge) -> &'static str {
    match edge.resolution {
        None => "",
        Some(Resolution::Success) if edge.accepts.contains(Resolution::Success) => " succeeded",
        Some(Resolution::Failed) if edge.accepts.contains(Resolution::Failed) => " failed",
        Some(fact) if edge.accepts.contains(fact) => " taken",
        Some(Resolution::Failed) => " failed refused",
        Some(_) => " refused",
    }
}
