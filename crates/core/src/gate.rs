//! Gates: waits on the world. A gate opens once, by an event that says who or what opened it.

use crate::name::Name;
use crate::template::Template;
use crate::time::{Millis, Time};
use serde::{Deserialize, Serialize};

/// What a gate waits for, and for how long at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// What opens it.
    pub wait: Wait,
    /// How long it may stay closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Millis>,
    /// What happens when the deadline passes.
    #[serde(default, skip_serializing_if = "OnDeadline::is_default")]
    pub on_deadline: OnDeadline,
    /// Who else may approve when it stays closed, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub escalate: Vec<Escalation>,
    /// The tasks whose outputs somebody is shown to decide on it; those just before it if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Name>,
}

/// More people are asked after a while.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Escalation {
    /// How long after the gate was reached.
    pub after: Millis,
    /// Who may approve as well from then on.
    pub to: Vec<Name>,
}

impl Gate {
    /// A gate that waits as long as it takes.
    pub fn new(wait: Wait) -> Self {
        Self { wait, deadline: None, on_deadline: OnDeadline::default(), escalate: Vec::new(), evidence: Vec::new() }
    }

    /// Whether a person may speak to the gate at an instant, if it was reached at another. What waits for something
    /// outside names nobody: whoever can speak for that may.
    pub fn may_speak(&self, who: &Name, reached: Time, now: Time) -> bool {
        let asked = |step: &Escalation| reached.plus(step.after) <= now && step.to.contains(who);
        match &self.wait {
            Wait::Approval { from, .. } => from.is_empty() || from.contains(who) || self.escalate.iter().any(asked),
            Wait::Webhook | Wait::External { .. } => true,
            Wait::After(_) | Wait::Until(_) | Wait::Shared { .. } => false,
        }
    }
}

/// What opens a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Time passing, counted from when the gate was reached.
    After(Millis),
    /// An instant, also one that passed while nothing was running.
    Until(Time),
    /// People: `count` different ones of `from`; anybody if `from` is empty.
    Approval {
        /// Who may approve.
        from: Vec<Name>,
        /// How many of them it takes.
        count: u32,
    },
    /// A call of the gate's own address. What is sent there is its output.
    Webhook,
    /// Another system saying that something is so.
    External {
        /// Which system.
        system: Name,
        /// What it is called there; evaluated when the gate is reached.
        id: Template,
    },
    /// A gate of the work graph, which others may wait for too: this one opens with it.
    Shared {
        /// Its id; evaluated when the gate is reached.
        gate: Template,
    },
}

/// How a gate's wait ends, for whoever need not know more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// By the clock.
    Itself,
    /// By people who approve.
    People,
    /// By something outside.
    Outside,
    /// By the gate of the work graph that it shares.
    Shared,
}

impl Wait {
    /// By whom or what it ends.
    pub fn opens(&self) -> Opens {
        match self {
            Wait::After(_) | Wait::Until(_) => Opens::Itself,
            Wait::Approval { .. } => Opens::People,
            Wait::Webhook | Wait::External { .. } => Opens::Outside,
            Wait::Shared { .. } => Opens::Shared,
        }
    }
}

/// What a passed deadline means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDeadline {
    /// The gate is rejected: the task ends in Error `deadline`.
    #[default]
    Reject,
    /// The gate opens.
    Open,
}

impl OnDeadline {
    fn is_default(&self) -> bool {
        *self == Self::Reject
    }
}

/// One person's yes, as the fold keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Who said yes.
    pub by: Name,
    /// When.
    pub at: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_people_may_speak_when_their_time_has_come() {
        let name = |text: &str| Name::parse(text).unwrap();
        let step = |after, who| Escalation { after: Millis(after), to: vec![name(who)] };
        let gate = Gate {
            escalate: vec![step(100, "boss"), step(200, "owner")],
            ..Gate::new(Wait::Approval { from: vec![name("lead")], count: 1 })
        };
        for (who, now, may) in [
            ("lead", 1_000, true),
            ("boss", 1_099, false),
            ("boss", 1_100, true),
            ("owner", 1_199, false),
            ("owner", 1_200, true),
            ("lead", 9_000, true),
            ("stranger", 9_000, false),
        ] {
            assert_eq!(gate.may_speak(&name(who), Time(1_000), Time(now)), may, "{who} at {now}");
        }
    }
}
