//! How far a closed gate has asked more and more people: which step comes next, and when.

use super::Run;
use crate::event::{Event, GateEscalated, TaskIx, TimerFired, TimerKey, TimerKind};
use crate::gate::Escalation;
use crate::plan::Work;
use crate::time::Time;

impl Run {
    /// The step of a gate's `escalate` that nobody was told of yet, from 1; there may be no such step.
    pub fn next_step(&self, gate: TaskIx) -> u16 {
        let told = self.escalated.get(&gate).map_or(0, Vec::len);
        u16::try_from(told).unwrap_or(u16::MAX).saturating_add(1)
    }

    /// A step of a gate's `escalate`, if there is such a gate and such a step.
    pub fn escalation(&self, gate: TaskIx, step: u16) -> Option<&Escalation> {
        self.task(gate)?;
        let Work::Gate(spec) = &self.spec_of(gate).work else { return None };
        spec.escalate.get(usize::from(step.checked_sub(1)?))
    }

    /// When a step falls due, if the gate was reached.
    pub fn escalates_at(&self, gate: TaskIx, step: u16) -> Option<Time> {
        let after = self.escalation(gate, step)?.after;
        Some(self.tasks[gate.0 as usize].ready_at.known()?.plus(after))
    }

    /// What a timer that is due is written as.
    pub fn fired(&self, timer: TimerKey, due: Time) -> Event {
        let TimerKey { task, generation, kind, .. } = timer;
        match kind {
            TimerKind::Escalation => {
                Event::GateEscalated(GateEscalated { task, generation, step: self.next_step(task) })
            }
            _ => Event::TimerFired(TimerFired { timer, due }),
        }
    }
}
