//! Facts as they are typed: `build=ok`, `sign=approve:lead`, `+2h`, `cancel`.
//!
//! What stands before the first `=` is a task's path, which never has one; a word alone is about the whole run; what
//! begins with a digit or `+` is about time.

use crate::error::{Error, Result};
use crate::name::Name;
use crate::suggest::nearest;
use crate::time::{Millis, Time};
use serde_json::Value;
use std::fmt;

/// Something that could happen next.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// To a task, by its path.
    Task(String, TaskFact),
    /// To the whole run.
    Run(RunFact),
    /// Nothing but time, for so long.
    Passes(Millis),
    /// Nothing but time, until an instant.
    Until(Time),
}

/// Something that could happen to a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskFact {
    /// It succeeds, with an output if it is known; a gate opens.
    Ok(Option<Value>),
    /// It fails for good, with a failure of this type.
    Fail(String),
    /// Its attempt fails with a failure of this type, and another may follow.
    FailOnce(String),
    /// A person says yes; everybody who is still needed if nobody is named.
    Approve(Option<Name>),
    /// A person says no; the first who may if nobody is named.
    Reject(Option<Name>),
    /// An operator leaves it out.
    Skip,
    /// An operator cancels it.
    Cancel,
    /// An operator declares it dealt with, without output.
    Resolve,
    /// An operator gives it new attempts.
    Reset,
    /// An operator supplies its output.
    Complete(Value),
    /// An operator has it done again, with all that follows it.
    Rerun,
}

/// Something that could happen to a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFact {
    /// It is cancelled.
    Cancel,
    /// It is paused.
    Pause,
    /// It is resumed.
    Resume,
    /// It is declared dealt with.
    Resolve,
    /// The failures stand that it holds at.
    GiveUp,
    /// All of it is done again.
    Rerun,
}

/// The type of a failure that nobody named.
const SUPPOSED: &str = "supposed";
const TASK_WORDS: [&str; 11] =
    ["ok", "fail", "fail-once", "approve", "reject", "skip", "cancel", "resolve", "reset", "complete", "rerun"];
const RUN_WORDS: [(&str, RunFact); 6] = [
    ("cancel", RunFact::Cancel),
    ("pause", RunFact::Pause),
    ("resume", RunFact::Resume),
    ("resolve", RunFact::Resolve),
    ("give-up", RunFact::GiveUp),
    ("rerun", RunFact::Rerun),
];

impl Fact {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(span) = text.strip_prefix('+') {
            return Millis::parse(span).map(Self::Passes);
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return Time::parse(text).map(Self::Until);
        }
        let Some((path, what)) = text.split_once('=') else { return of_run(text) };
        if path.trim_end_matches(':').is_empty() {
            return Err(bad(format!("{text:?} names no task: expected something like `build=ok`")));
        }
        let fact = match path.strip_suffix(':') {
            Some(path) => Self::Task(path.to_owned(), TaskFact::Ok(Some(json(path, what)?))),
            None => Self::Task(path.to_owned(), TaskFact::parse(path, what)?),
        };
        Ok(fact)
    }
}

fn of_run(text: &str) -> Result<Fact> {
    if let Some((_, fact)) = RUN_WORDS.iter().find(|(word, _)| *word == text) {
        return Ok(Fact::Run(*fact));
    }
    let words = RUN_WORDS.map(|(word, _)| word);
    let near = nearest(text, words).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(bad(format!(
        "{text:?} is not a fact: expected `TASK=ok`, `TASK=fail`, `TASK:=JSON`, `+2h`, an instant, or one of {}{near}",
        words.join(", ")
    )))
}

fn json(path: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text)
        .map_err(|error| bad(format!("the output of `{path}` is not JSON ({error}): a text stands in quotes")))
}

fn bad(message: String) -> Error {
    Error::invalid("bad_fact", message)
}

impl TaskFact {
    fn parse(path: &str, text: &str) -> Result<Self> {
        let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest)));
        let kind = || rest.unwrap_or(SUPPOSED).to_owned();
        let person = || rest.map(Name::parse).transpose();
        let fact = match word {
            "fail" => Self::Fail(kind()),
            "fail-once" => Self::FailOnce(kind()),
            "approve" => Self::Approve(person()?),
            "reject" => Self::Reject(person()?),
            "ok" if rest.is_some() => return Err(bad("an output is given as `TASK:=JSON`".into())),
            "complete" => match rest {
                Some(output) => Self::Complete(json(path, output)?),
                None => return Err(bad("what somebody supplies is given as `TASK=complete:JSON`".into())),
            },
            _ if rest.is_some() && TASK_WORDS.contains(&word) => {
                return Err(bad(format!("`{word}` stands alone: nothing follows it")));
            }
            "ok" => Self::Ok(None),
            "skip" => Self::Skip,
            "cancel" => Self::Cancel,
            "resolve" => Self::Resolve,
            "reset" => Self::Reset,
            "rerun" => Self::Rerun,
            _ => {
                let near = nearest(word, TASK_WORDS).map(|near| format!("; did you mean `{near}`?"));
                let words = TASK_WORDS.join(", ");
                return Err(bad(format!(
                    "{text:?} cannot happen to a task: expected one of {words}{}",
                    near.unwrap_or_default()
                )));
            }
        };
        Ok(fact)
    }
}

/// As it is said: `build fails for good with exit_1`.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(path, fact) => write!(f, "{path} {fact}"),
            Self::Run(RunFact::Cancel) => f.write_str("the run is cancelled"),
            Self::Run(RunFact::Pause) => f.write_str("the run is paused"),
            Self::Run(RunFact::Resume) => f.write_str("the run is resumed"),
            Self::Run(RunFact::Resolve) => f.write_str("the run is declared dealt with"),
            Self::Run(RunFact::GiveUp) => f.write_str("the run is given up"),
            Self::Run(RunFact::Rerun) => f.write_str("the whole run is done again"),
            Self::Passes(span) => write!(f, "{span} pass"),
            Self::Until(time) => write!(f, "time passes until {time}"),
        }
    }
}

impl fmt::Display for TaskFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |kind: &str| if kind == SUPPOSED { String::new() } else { format!(" with {kind}") };
        match self {
            Self::Ok(None) => f.write_str("succeeds"),
            Self::Ok(Some(output)) => write!(f, "succeeds with {output}"),
            Self::Fail(kind) => write!(f, "fails for good{}", of(kind)),
            Self::FailOnce(kind) => write!(f, "fails once{}", of(kind)),
            Self::Approve(None) => f.write_str("is approved"),
            Self::Approve(Some(by)) => write!(f, "is approved by {by}"),
            Self::Reject(None) => f.write_str("is rejected"),
            Self::Reject(Some(by)) => write!(f, "is rejected by {by}"),
            Self::Skip => f.write_str("is skipped"),
            Self::Cancel => f.write_str("is cancelled"),
            Self::Resolve => f.write_str("is declared dealt with"),
            Self::Reset => f.write_str("is reset"),
            Self::Complete(output) => write!(f, "is completed by hand with {output}"),
            Self::Rerun => f.write_str("is done again, with all that follows it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_and_said() {
        for (typed, said) in [
            ("build=ok", "build succeeds"),
            ("build[3]:={\"a\":1}", "build[3] succeeds with {\"a\":1}"),
            ("build:=\"x=y\"", "build succeeds with \"x=y\""),
            ("build=fail", "build fails for good"),
            ("build=fail:exit_1", "build fails for good with exit_1"),
            ("build=fail-once:timeout", "build fails once with timeout"),
            ("sign=approve", "sign is approved"),
            ("sign=approve:lead", "sign is approved by lead"),
            ("sign=reject:lead", "sign is rejected by lead"),
            ("for#2.load=skip", "for#2.load is skipped"),
            ("a=cancel", "a is cancelled"),
            ("a=resolve", "a is declared dealt with"),
            ("a=reset", "a is reset"),
            ("a=rerun", "a is done again, with all that follows it"),
            ("a=complete:{\"n\":1}", "a is completed by hand with {\"n\":1}"),
            ("give-up", "the run is given up"),
            ("rerun", "the whole run is done again"),
            ("cancel", "the run is cancelled"),
            ("resolve", "the run is declared dealt with"),
            ("+2h", "2h pass"),
            ("2027-01-31T12:00:00Z", "time passes until 2027-01-31T12:00:00.000Z"),
        ] {
            assert_eq!(Fact::parse(typed).unwrap().to_string(), said, "{typed}");
        }
    }

    #[test]
    fn what_is_no_fact_is_refused_with_what_to_type() {
        for (typed, expected) in [
            ("build", "`TASK=ok`"),
            ("cancle", "did you mean `cancel`?"),
            ("build=fial", "did you mean `fail`?"),
            ("build=ok:1", "`TASK:=JSON`"),
            ("build=skip:now", "stands alone"),
            ("build=rerun:now", "stands alone"),
            ("build=complete", "`TASK=complete:JSON`"),
            ("build=complete:oops", "is not JSON"),
            ("build:=oops", "is not JSON"),
            ("=ok", "names no task"),
            (":=1", "names no task"),
            ("+soon", "is not a duration"),
            ("2027", "is not an instant"),
            ("sign=approve:9", "must start with a letter"),
        ] {
            let message = Fact::parse(typed).unwrap_err().message;
            assert!(message.contains(expected), "{typed}: {message}");
        }
    }
}
