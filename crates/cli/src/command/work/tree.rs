//! A dependency tree in the terminal: what stands in it twice is followed once, what is deeper than asked is marked.

use super::board::Board;
use super::look;
use super::reason::branches;
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::work::{Branch, DependencyKind};

/// The lines of a tree, which is as deep as was asked for.
pub(crate) fn lines(board: &Board, tree: &Branch, style: Style) -> Vec<String> {
    let mut lines = vec![line(board, tree, style)];
    below(board, tree, "", style, &mut lines);
    lines
}

fn below(board: &Board, tree: &Branch, indent: &str, style: Style, lines: &mut Vec<String>) {
    for (n, child) in tree.branches.iter().enumerate() {
        let (branch, inner) = branches(style, n + 1 == tree.branches.len());
        lines.push(format!("{indent}{branch}{}", line(board, child, style)));
        below(board, child, &format!("{indent}{inner}"), style, lines);
    }
}

/// `◌ ew-7k2  Mend the login  (parent-child)  see above`
fn line(board: &Board, branch: &Branch, style: Style) -> String {
    let item = board.work.item(branch.id.as_str());
    let sign = item.map(|item| look::sign(item, &board.standing(item), style) + " ").unwrap_or_default();
    let kind = match branch.kind {
        None | Some(DependencyKind::Blocks) => String::new(),
        Some(kind) => format!("  {}", style.paint(Ink::Dim, &format!("({})", kind.name()))),
    };
    let mark = match (branch.seen, branch.cut) {
        (true, _) => format!("  {}", style.paint(Ink::Dim, "see above")),
        (_, true) => format!("  {}", style.paint(Ink::Dim, style.cut_mark())),
        _ => String::new(),
    };
    let title = if branch.title.is_empty() { String::new() } else { format!("  {}", text::escape(&branch.title)) };
    format!("{sign}{}{title}{kind}{mark}", style.paint(Ink::Bold, &text::escape(branch.id.as_str())))
}
