//! Reasons as a tree on a terminal: each task once, and where it comes again it is only named.
//!
//! A long row of tasks that are each blocked by the next is one line, so that the end of it, which is what
//! matters, is not pushed out of the window.

use crate::style::{Ink, Style, ink};
use crate::text;
use edgewise_core::event::TaskIx;
use edgewise_core::run::Run;
use edgewise_core::state::Phase;
use edgewise_core::why::{Because, Cause, Clock, Mover, Need, Why};
use std::collections::{BTreeMap, BTreeSet};

/// Siblings beyond this many that say the same are counted, not shown.
const ALIKE: usize = 5;
/// A row of blocked tasks longer than this is told as its ends.
const ROW: usize = 4;

/// Longest sentence: a failure may have a page to say, and `show --json` says it.
const SENTENCE: usize = 240;

/// Draws a [`Why`].
pub(super) struct Tree<'a> {
    why: &'a Why,
    clock: Clock<'a>,
    style: Style,
    columns: Option<usize>,
    causes: BTreeMap<TaskIx, &'a Cause>,
    shown: BTreeSet<TaskIx>,
    lines: Vec<String>,
}

/// One line that is still to be drawn.
enum Step<'a> {
    Task { need: &'a Need, indent: String, last: bool },
    Plain(String),
}

impl<'a> Tree<'a> {
    pub(super) fn new(why: &'a Why, clock: Clock<'a>, style: Style, columns: Option<usize>) -> Self {
        let causes = why.causes.iter().map(|cause| (cause.task, cause)).collect();
        Self { why, clock, style, columns, causes, shown: BTreeSet::new(), lines: Vec::new() }
    }

    /// A mark that stands before everything else.
    pub(super) fn frozen(&mut self, run: &Run, reason: &str) {
        let word = self.style.paint(Ink::Bad, "frozen:");
        let id = run.id.short();
        let next = match run.frozen {
            Some(_) => format!("edgewise unfreeze {id} lets it go on"),
            None => format!("edgewise doctor --verify looks at run {id}"),
        };
        self.lines.push(format!("{word} {}; {next}", text::escape(reason)));
    }

    /// The run in one line, then what it comes down to.
    pub(super) fn of_run(mut self, run: &Run) -> Vec<String> {
        let phase = self.why.phase;
        let flow = run.about.as_ref().map_or("", |about| about.flow.as_str());
        let name = self.style.paint(Ink::Bold, &format!("{flow} {}", run.id.short()));
        let paused = self.why.paused && !self.why.state.is_done();
        let frozen = self.why.frozen_by.is_some();
        let said = match () {
            () if frozen => "frozen",
            () if paused => "paused",
            () => phase.word(),
        };
        let sentence = self.why.sentence(self.clock);
        // Some sentences begin with the very word.
        let (colon, rest) =
            sentence.strip_prefix(said).map_or((":", sentence.as_str()), |rest| ("", rest.trim_start()));
        let sign = self.style.paint(ink(phase), self.style.glyph(phase));
        let word = self.style.paint(if paused || frozen { Ink::Wait } else { ink(phase) }, said);
        self.push(&format!("{sign} {name}  {word}{colon} "), "  ", rest);
        let movers = self.why.moved_by.iter().map(|mover| format!("  {}", self.mover(mover)));
        self.lines.extend(movers.collect::<Vec<_>>());
        self.draw(self.children(&self.why.needs, ""));
        self.lines
    }

    /// The task itself, then what stands behind it.
    pub(super) fn of_task(mut self) -> Vec<String> {
        let Some(cause) = self.why.causes.first() else { return self.lines };
        self.shown.insert(cause.task);
        let (head, sentence) = self.head(cause, None);
        self.push(&head, "  ", &sentence);
        let movers = worth_a_line(cause).map(|mover| format!("  {}", self.mover(mover)));
        self.lines.extend(movers.collect::<Vec<_>>());
        self.draw(self.children(&cause.needs, ""));
        self.lines
    }

    /// Depth first, with a stack of our own: a chain may be longer than any call stack.
    fn draw(&mut self, first: Vec<Step<'a>>) {
        let mut stack: Vec<Step<'a>> = first;
        stack.reverse();
        while let Some(step) = stack.pop() {
            match step {
                // A command that was cut could not be copied.
                Step::Plain(line) => self.lines.push(line),
                Step::Task { need, indent, last } => {
                    let more = self.task(need, &indent, last);
                    stack.extend(more.into_iter().rev());
                }
            }
        }
    }

    /// Draws a task and gives what is to be drawn below it.
    fn task(&mut self, need: &'a Need, indent: &str, last: bool) -> Vec<Step<'a>> {
        let (branch, below) = self.branches(last);
        let below = format!("{indent}{below}");
        let Some(cause) = self.causes.get(&need.task).copied() else { return Vec::new() };
        let again = !self.shown.insert(need.task);
        if again && !cause.needs.is_empty() {
            let see = self.style.paint(Ink::Dim, "see above");
            let path = text::escape(&cause.path).into_owned();
            self.lines.push(format!("{indent}{branch}{} {path}  {see}", self.sign(cause.phase)));
            return Vec::new();
        }
        let (head, sentence) = self.head(cause, need.condition());
        self.push(&format!("{indent}{branch}{head}"), &format!("{below}  "), &sentence);
        if let Some((count, end)) = self.row(cause) {
            let dots = if self.style.unicode { "⋮" } else { ":" };
            let words = format!("{dots} {count} more in a row, each blocked by the next, down to");
            self.lines.push(format!("{below}{}", self.style.paint(Ink::Dim, &words)));
            return vec![Step::Task { need: end, indent: below, last: true }];
        }
        let mut steps: Vec<Step<'a>> =
            worth_a_line(cause).map(|mover| Step::Plain(format!("{below}  {}", self.mover(mover)))).collect();
        steps.extend(self.children(&cause.needs, &below));
        steps
    }

    /// If a long row of tasks that need just one other begins here: how many lie between, and the last.
    fn row(&mut self, from: &'a Cause) -> Option<(usize, &'a Need)> {
        let mut passed = Vec::new();
        let mut at = from;
        let mut end = None;
        while let ([need], Because::Upstream { .. }) = (at.needs.as_slice(), &at.because) {
            let Some(next) = self.causes.get(&need.task).copied() else { break };
            if self.shown.contains(&need.task) {
                break;
            }
            passed.push(need.task);
            end = Some(need);
            at = next;
        }
        if passed.len() <= ROW {
            return None;
        }
        passed.pop();
        self.shown.extend(passed.iter().copied());
        end.map(|end| (passed.len(), end))
    }

    /// The steps for several needs; many that say the same become a few and a count.
    fn children(&self, needs: &'a [Need], indent: &str) -> Vec<Step<'a>> {
        let mut alike: BTreeMap<String, usize> = BTreeMap::new();
        let mut kept: Vec<&'a Need> = Vec::new();
        let mut hidden: BTreeMap<String, usize> = BTreeMap::new();
        for need in needs {
            let said = self.causes.get(&need.task).map(|cause| kind(cause)).unwrap_or_default();
            let count = alike.entry(said.clone()).or_default();
            *count += 1;
            if *count <= ALIKE {
                kept.push(need);
            } else {
                *hidden.entry(said).or_default() += 1;
            }
        }
        let end = kept.len() + hidden.len();
        let mut steps = Vec::with_capacity(end);
        for (n, need) in kept.into_iter().enumerate() {
            steps.push(Step::Task { need, indent: indent.to_owned(), last: n + 1 == end });
        }
        let first_hidden = steps.len();
        for (n, (said, count)) in hidden.into_iter().enumerate() {
            let (branch, _) = self.branches(first_hidden + n + 1 == end);
            let words = format!("and {count} more: {said}");
            steps.push(Step::Plain(format!("{indent}{branch}{}", self.style.paint(Ink::Dim, &words))));
        }
        steps
    }

    /// What a line begins with, and the sentence that follows.
    fn head(&self, cause: &Cause, condition: Option<String>) -> (String, String) {
        let path = self.style.paint(Ink::Bold, &text::escape(&cause.path));
        let condition = condition.map(|c| self.style.paint(Ink::Dim, &format!(" ({c})"))).unwrap_or_default();
        let sentence = cause.sentence(self.clock);
        (format!("{} {path}{condition}  ", self.sign(cause.phase)), sentence)
    }

    fn sign(&self, phase: Phase) -> String {
        self.style.paint(ink(phase), self.style.glyph(phase))
    }

    fn mover(&self, mover: &Mover) -> String {
        let arrow = if self.style.unicode { "→" } else { "->" };
        let ink = if matches!(mover, Mover::Person { .. }) { Ink::Live } else { Ink::Dim };
        self.style.paint(ink, &format!("{arrow} {}", text::escape(&mover.sentence(self.clock))))
    }

    fn branches(&self, last: bool) -> (&'static str, &'static str) {
        match (self.style.unicode, last) {
            (true, false) => ("├─ ", "│  "),
            (true, true) => ("└─ ", "   "),
            (false, false) => ("|- ", "|  "),
            (false, true) => ("`- ", "   "),
        }
    }

    /// A sentence behind what a line begins with; what does not fit goes on below it.
    fn push(&mut self, head: &str, below: &str, sentence: &str) {
        let sentence = text::escape(sentence);
        let sentence = text::cut(&sentence, SENTENCE, self.style.cut_mark());
        let columns = self.columns.unwrap_or(usize::MAX);
        let room = |before: &str| columns.saturating_sub(text::width(before));
        let mut lines = text::wrap(&sentence, room(head), room(below)).into_iter();
        self.lines.push(format!("{head}{}", lines.next().unwrap_or_default()));
        self.lines.extend(lines.map(|line| format!("{below}{line}")));
    }
}

/// Those who move a task and are not in the sentence about it already.
fn worth_a_line(cause: &Cause) -> impl Iterator<Item = &Mover> {
    let said = match &cause.because {
        Because::Retry { until, .. } | Because::Time { until } => until.known(),
        _ => None,
    };
    cause.moved_by.iter().filter(move |mover| match mover {
        Mover::Person { .. } | Mover::Slot { .. } | Mover::Setting { .. } => true,
        Mover::Clock { at, .. } => said != Some(*at),
        Mover::Worker { .. } | Mover::Engine | Mover::Holder | Mover::Run { .. } => false,
    })
}

/// What makes two siblings alike.
fn kind(cause: &Cause) -> String {
    match &cause.because {
        Because::Failed { failure, .. } => format!("failed with {}", failure.kind),
        Because::Approval { .. }
        | Because::Time { .. }
        | Because::Webhook { .. }
        | Because::External { .. }
        | Because::Shared { .. } => "closed gates".to_owned(),
        _ => cause.phase.word().to_owned(),
    }
}
