//! Attempts side by side: what is as it was in the attempt before is dim, so that the eye finds what is new.

use crate::clock::Clock;
use crate::live::span;
use crate::style::{Ink, Style};
use crate::table::{self, Cell};
use edgewise_core::attempts::{Attempt, Difference, Ending};

const HEADER: [&str; 7] = ["try", "by", "waited", "began", "took", "new", "ending"];
/// Under the facts of the task.
const INDENT: usize = 2;

/// Nothing for a task with one attempt at most: the facts above have said it all.
pub(super) fn lines(attempts: &[Attempt], clock: &Clock, style: Style, columns: Option<usize>) -> Vec<String> {
    if attempts.len() < 2 {
        return Vec::new();
    }
    let rows: Vec<Vec<Cell>> = attempts.iter().map(|attempt| row(attempt, clock)).collect();
    let columns = columns.map(|columns| columns.saturating_sub(INDENT));
    let lines = table::lines(&HEADER, rows.iter().map(Vec::as_slice), style, columns);
    lines.into_iter().map(|line| format!("{}{line}", " ".repeat(INDENT))).collect()
}

fn row(attempt: &Attempt, clock: &Clock) -> Vec<Cell> {
    let is_new = |what: &[Difference]| attempt.attempt == 1 || attempt.differs.iter().any(|d| what.contains(d));
    let ink = |what: &[Difference]| if is_new(what) { Ink::Plain } else { Ink::Dim };
    let number = match attempt.generation {
        1 => attempt.attempt.to_string(),
        generation => format!("{generation}.{}", attempt.attempt),
    };
    let took = attempt.took().map(span).unwrap_or_default();
    let (ending, bad) = ending(&attempt.ending);
    let told = is_new(&[Difference::Ending, Difference::Message]);
    vec![
        Cell::from(number),
        Cell::new(&*attempt.worker, ink(&[Difference::Worker])),
        Cell::new(span(attempt.waited), Ink::Dim),
        Cell::from(clock.second(attempt.began_at)),
        Cell::new(took, ink(&[Difference::Longer, Difference::Shorter])),
        Cell::new(differences(attempt), Ink::Bold),
        Cell::new(ending, if !told { Ink::Dim } else { bad }),
    ]
}

fn ending(ending: &Ending) -> (String, Ink) {
    match ending {
        Ending::AtWork => ("at work".into(), Ink::Live),
        Ending::Succeeded => ("succeeded".into(), Ink::Good),
        Ending::Failed { failure } => (failure.chain(), Ink::Bad),
        Ending::Returned => ("came back undelivered, not spent".into(), Ink::Wait),
        Ending::Stopped { by } => (format!("stopped by {by}"), Ink::Wait),
    }
}

fn differences(attempt: &Attempt) -> String {
    let words = attempt.differs.iter().map(|difference| match difference {
        Difference::Worker => "by",
        Difference::Ending => "ending",
        Difference::Message => "message",
        Difference::Longer => "longer",
        Difference::Shorter => "shorter",
    });
    words.collect::<Vec<_>>().join(", ")
}
