//! SVG: one file that stands alone, readable on light and dark ground, with signs beside colours.
//!
//! No script, no reference to the outside, no variables: viewers that know little of CSS show the light form.

mod look;
mod parts;

use super::layout::{Direction, Layout, Size, Spacing, Task, layout};
use super::{Node, NodeKind, Sketch, measure, safe};
use look::STYLE;
use parts::Parts;

/// Around everything.
const MARGIN: i32 = 24;
/// Above the picture, for its title.
const HEADER: i32 = 52;
/// Below the picture of a run, for what the signs mean.
const LEGEND: i32 = 30;
/// The boxes of nodes.
const BOX_HEIGHT: i32 = 46;
const BOX_WIDTH: (i32, i32) = (120, 250);
/// Font sizes: of names, and of small lines.
const NAME: i32 = 13;
const SMALL: i32 = 11;
/// Above this many nodes only one direction is tried: the picture is no longer looked at as a whole.
const BOTH_WAYS: usize = 2_000;
/// The page that a picture should fit: it is wider than high, and going down it costs less than going right.
const PAGE: (i64, i64) = (3, 4);

/// A sketch with its places.
pub(super) struct Laid {
    pub direction: Direction,
    pub layout: Layout,
    /// The label of each edge.
    pub labels: Vec<String>,
}

impl Sketch {
    /// The sketch as SVG.
    pub fn to_svg(&self) -> String {
        let laid = lay(self);
        let legend = if self.run.is_some() { LEGEND } else { 0 };
        let title = measure::width(&self.headline(), NAME + 3) + measure::width(&self.subtitle(), SMALL + 1);
        let width = (laid.layout.size.width).max(title + title / 4 + 50) + 2 * MARGIN;
        let width = width.max(if legend > 0 { parts::legend_width() + 2 * MARGIN } else { 0 });
        let height = laid.layout.size.height + HEADER + legend + MARGIN;
        let mut parts = Parts::new(self, &laid);
        parts.line(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"picture-title\">"
        ));
        parts.line(&format!("<title id=\"picture-title\">{}</title>", safe::xml(&self.headline())));
        parts.line(STYLE);
        parts.line("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>");
        parts.header(MARGIN);
        let left = (width - laid.layout.size.width) / 2;
        parts.line(&format!("<g transform=\"translate({left} {HEADER})\">"));
        parts.groups();
        parts.edges();
        parts.nodes();
        parts.line("</g>");
        if legend > 0 {
            parts.legend(MARGIN, height - MARGIN);
        }
        parts.line("</svg>");
        parts.text
    }

    /// `release`, or `release, run k3f9x2ab`.
    fn headline(&self) -> String {
        match &self.run {
            Some(head) => format!("{}, run {}", self.title, head.id.short()),
            None => self.title.clone(),
        }
    }

    fn subtitle(&self) -> String {
        let groups = self.groups();
        let tasks = groups.iter().filter(|group| !**group).count();
        match &self.run {
            Some(head) => head.sentence(),
            None if tasks == 1 => "1 task".into(),
            None => format!("{tasks} tasks"),
        }
    }
}

/// Lays a sketch out for SVG and JSON, in the direction that fits a page better.
pub(super) fn lay(sketch: &Sketch) -> Laid {
    let labels: Vec<String> = sketch.edges().iter().map(super::Edge::label).collect();
    let down = lay_in(sketch, &labels, Direction::Down);
    if sketch.nodes().len() > BOTH_WAYS {
        return Laid { direction: Direction::Down, layout: down, labels };
    }
    let right = lay_in(sketch, &labels, Direction::Right);
    let off = |size: Size| (i64::from(size.width) * PAGE.1).max(i64::from(size.height) * PAGE.0);
    if off(down.size) <= off(right.size) {
        Laid { direction: Direction::Down, layout: down, labels }
    } else {
        Laid { direction: Direction::Right, layout: right, labels }
    }
}

fn lay_in(sketch: &Sketch, labels: &[String], direction: Direction) -> Layout {
    let spacing = Spacing {
        direction,
        boxes: if direction == Direction::Down { 28 } else { 18 },
        layers: if direction == Direction::Down { 38 } else { 56 },
        track: 14,
        pad: 16,
        title: 24,
    };
    let groups = sketch.groups();
    let mut boxes: Vec<Size> = sketch.nodes().iter().zip(&groups).map(|(node, group)| box_size(node, *group)).collect();
    let labels: Vec<Size> = labels.iter().map(|label| label_size(label)).collect();
    for (edge, label) in sketch.edges().iter().zip(&labels).filter(|(_, label)| label.width > 0) {
        widen(&mut boxes[edge.to as usize], *label, direction);
    }
    layout(&Task { sketch, boxes: &boxes, labels: &labels, spacing })
}

/// Boxes with labels at their in-edges must have room for them side by side, within reason.
fn widen(size: &mut Size, label: Size, direction: Direction) {
    let (extent, least, most) = match direction {
        Direction::Down => (&mut size.width, label.width + 16, 2 * BOX_WIDTH.1),
        Direction::Right => (&mut size.height, label.height + 10, 4 * BOX_HEIGHT),
    };
    // Half of a box is wide enough for one label already.
    *extent = (*extent + least / 2).min(most).max(*extent);
}

fn box_size(node: &Node, group: bool) -> Size {
    let name = measure::width(&safe::plain(&node.label), NAME);
    let note = measure::width(&safe::plain(&node.line()), SMALL);
    let sign = if node.now.is_some() { 24 } else { 0 };
    if group {
        let title = (name + note + sign + 36).min(2 * BOX_WIDTH.1);
        return Size { width: title, height: BOX_HEIGHT };
    }
    let round = if node.kind == NodeKind::Gate { 14 } else { 0 };
    let width = (name.max(note) + sign + round + 26).clamp(BOX_WIDTH.0, BOX_WIDTH.1);
    Size { width: width + width % 2, height: BOX_HEIGHT }
}

fn label_size(label: &str) -> Size {
    if label.is_empty() {
        return Size::default();
    }
    Size { width: measure::width(label, SMALL) + 4, height: SMALL + 2 }
}
