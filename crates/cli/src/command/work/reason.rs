//! A tree of reasons in the terminal: what is in the way, down to who or what can help.

use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::state::Phase;
use edgewise_core::work::{Help, Reason, Standing};

/// A row of so many that need just one other is shown as its two ends.
const ROW: usize = 8;

/// What people see of an item; nothing of what is none.
pub(crate) type Sight<'a> = &'a dyn Fn(&str) -> Option<Phase>;

/// The lines of a tree of reasons.
pub(crate) fn lines(reason: &Reason, seen: Sight<'_>, style: Style, columns: Option<usize>) -> Vec<String> {
    let mut tree = Tree { seen, style, columns: columns.unwrap_or(usize::MAX), lines: Vec::new() };
    tree.head(reason, "", "  ");
    tree.help(&reason.help, "  ");
    tree.below(reason);
    tree.lines
}

struct Tree<'a> {
    seen: Sight<'a>,
    style: Style,
    columns: usize,
    lines: Vec<String>,
}

impl Tree<'_> {
    /// Depth first, with a stack of our own: a chain may be longer than any call stack.
    fn below(&mut self, root: &Reason) {
        let mut stack: Vec<(&Reason, String, bool)> = Vec::new();
        extend(&mut stack, root, "");
        while let Some((reason, indent, last)) = stack.pop() {
            let (branch, below) = branches(self.style, last);
            let inner = format!("{indent}{below}");
            self.head(reason, &format!("{indent}{branch}"), &format!("{inner}  "));
            self.help(&reason.help, &format!("{inner}  "));
            match row(reason) {
                Some((count, end)) => {
                    let dots = if self.style.unicode { "⋮" } else { ":" };
                    let words = format!("{dots} {count} more in a row, each waits for the next, down to");
                    self.lines.push(format!("{inner}{}", self.style.paint(Ink::Dim, &words)));
                    stack.push((end, inner, true));
                }
                None => extend(&mut stack, reason, &inner),
            }
        }
    }

    /// `· ew-b Ship it  waits for 2 things`
    fn head(&mut self, reason: &Reason, before: &str, below: &str) {
        let phase = (self.seen)(reason.id.as_str()).unwrap_or_else(|| stands(reason));
        let sign = self.style.paint(crate::style::ink(phase), self.style.glyph(phase));
        let id = self.style.paint(Ink::Bold, reason.id.as_str());
        let title = text::escape(&reason.title);
        let title = if title.is_empty() { String::new() } else { format!(" {title}") };
        let head = format!("{before}{sign} {id}{title}  ");
        if reason.seen {
            self.lines.push(format!("{head}{}", self.style.paint(Ink::Dim, "see above")));
            return;
        }
        // Its id stands before it already.
        let says = reason.says.strip_prefix("gate ").unwrap_or(&reason.says);
        let says = says.strip_prefix(reason.id.as_str()).map_or(reason.says.as_str(), str::trim_start);
        let says = text::escape(says);
        let room = |before: &str| self.columns.saturating_sub(text::width(before)).max(20);
        let mut wrapped = text::wrap(&says, room(&head), room(below)).into_iter();
        self.lines.push(format!("{head}{}", wrapped.next().unwrap_or_default()));
        self.lines.extend(wrapped.map(|line| format!("{below}{line}")));
    }

    /// A command that was cut could not be copied, so these lines are never cut.
    fn help(&mut self, help: &[Help], indent: &str) {
        let arrow = if self.style.unicode { "→" } else { "->" };
        for one in help {
            let told = match &one.command {
                Some(command) => format!("{arrow} {} can {}: {command}", one.who, one.does),
                None => format!("{arrow} {}", one.does),
            };
            self.lines.push(format!("{indent}{}", self.style.paint(Ink::Live, &text::escape(&told))));
        }
    }
}

/// What is known of something that is not in this graph, or whose graph is not at hand.
fn stands(reason: &Reason) -> Phase {
    match &reason.standing {
        Some(Standing::Blocked) => Phase::Blocked,
        Some(Standing::Ready) => Phase::Ready,
        Some(Standing::Claimed(..)) => Phase::Running,
        _ => Phase::Waiting,
    }
}

/// If a long row of reasons with just one behind each begins here: how many lie between, and the last.
fn row(from: &Reason) -> Option<(usize, &Reason)> {
    let mut passed = 0;
    let mut at = from;
    while let [next] = at.because.as_slice() {
        (at, passed) = (next, passed + 1);
    }
    (passed > ROW).then(|| (passed - 1, at))
}

/// What stands below, the first on top of the stack.
fn extend<'a>(stack: &mut Vec<(&'a Reason, String, bool)>, reason: &'a Reason, indent: &str) {
    let count = reason.because.len();
    let below = reason.because.iter().enumerate().rev();
    stack.extend(below.map(|(n, inner)| (inner, indent.to_owned(), n + 1 == count)));
}

/// What a line of a tree begins with, and what stands below it.
pub(crate) fn branches(style: Style, last: bool) -> (&'static str, &'static str) {
    match (style.unicode, last) {
        (true, false) => ("├─ ", "│  "),
        (true, true) => ("└─ ", "   "),
        (false, false) => ("|- ", "|  "),
        (false, true) => ("`- ", "   "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::work::Target;

    fn reason(id: &str, says: &str, because: Vec<Reason>) -> Reason {
        let id = Target::parse(id).unwrap();
        let (title, standing) = (String::new(), Some(Standing::Blocked));
        Reason { id, title, standing, says: says.into(), help: Vec::new(), because, seen: false }
    }

    fn seen(id: &str) -> Option<Phase> {
        id.starts_with("ew").then_some(Phase::Blocked)
    }

    #[test]
    fn leaves_say_who_can_help_and_what_was_seen_is_not_told_again() {
        let help =
            Help { who: "ann".into(), does: "approve it".into(), command: Some("edgewise gate approve g-1".into()) };
        let gate = Reason { help: vec![help], standing: None, ..reason("g-1", "waits for ann", Vec::new()) };
        let again = Reason { seen: true, standing: None, ..reason("g-1", "", Vec::new()) };
        let inner = reason("ew-b", "waits for g-1", vec![gate]);
        let root = reason("ew-a", "ew-a waits for 2 things", vec![inner, again]);
        assert_eq!(
            lines(&root, &seen, Style::PLAIN, None),
            [
                ". ew-a  waits for 2 things",
                "|- . ew-b  waits for g-1",
                "|  `- ~ g-1  waits for ann",
                "|       -> ann can approve it: edgewise gate approve g-1",
                "`- ~ g-1  see above",
            ]
        );
    }

    #[test]
    fn a_chain_of_ten_thousand_is_its_two_ends() {
        let mut root = reason("ew-0", "waits", Vec::new());
        for n in 1..10_000 {
            root = reason(&format!("ew-{n}"), "waits", vec![root]);
        }
        let drawn = lines(&root, &seen, Style::PLAIN, Some(80));
        assert_eq!(drawn.len(), 4);
        assert_eq!(drawn[2].trim(), ": 9997 more in a row, each waits for the next, down to");
        assert!(drawn[3].contains("ew-0"), "{drawn:?}");
    }
}
