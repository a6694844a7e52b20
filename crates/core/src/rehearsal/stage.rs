//! The stage: a run in virtual time. Attempts, people and timers take their turns in the order of their instants;
//! what is due at the same instant goes in that order, so a rehearsal always goes the same way.

use super::{Answer, Case, Ends, Of, Said, Says, fits};
use crate::event::{
    Approved, DispatchEnqueued, Event, Failure, GateSatisfied, LinkRef, LinkResolved, PlanCreated, RULES, RunAdvanced,
    RunTriggered, TaskFinished, TaskIx, TimerKey,
};
use crate::fold::{Changes, Stamp, fold};
use crate::id::{EventId, RunId, TokenHash};
use crate::limits;
use crate::name::Name;
use crate::plan::{Plan, SubRun, Work};
use crate::run::Run;
use crate::state::{RunState, TaskState};
use crate::template::{Root, Values};
use crate::time::{Millis, Time};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The variables that the output of a stub can use, by their numbers.
pub(crate) const VARIABLES: [&str; 3] = ["with", "env", "attempt"];

/// What came of a case.
#[derive(Debug)]
pub struct Performance {
    /// The run as it ended, or as it was when nothing moved any more.
    pub run: Run,
    /// Every attempt that began, in order.
    pub effects: Vec<Effect>,
    /// How much time passed.
    pub elapsed: Millis,
    /// Why it could not be performed to its end.
    pub trouble: Option<String>,
}

/// An attempt that began.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The path of its task.
    pub path: String,
    /// Its action; none for a command.
    pub action: Option<Name>,
    /// What it was given.
    pub with: Value,
}

/// Something that is going to happen.
enum Due {
    Finish(TaskIx, TaskFinished),
    Say(Event),
}

struct Stage<'c> {
    case: &'c Case,
    run: Run,
    now: Time,
    changes: Changes,
    effects: Vec<Effect>,
    ready: VecDeque<TaskIx>,
    /// Sub-runs that have begun and whose stubs were not asked yet.
    children: VecDeque<TaskIx>,
    /// By instant, then attempts before people, then in the order in which they were arranged.
    due: BTreeMap<(Time, u8, u64), Due>,
    /// How often each stub was asked, and for whom.
    asked: BTreeMap<(usize, Option<TaskIx>), usize>,
    arranged: u64,
}

/// Performs a case to its end, or until nothing moves any more.
pub fn perform(case: &Case) -> Performance {
    let plan = Arc::new(without_chance(&case.plan));
    let hash = plan.encode().0;
    let mut stage = Stage {
        case,
        run: Run::new(RunId(1), hash, plan),
        now: case.at,
        changes: Changes::default(),
        effects: Vec::new(),
        ready: VecDeque::new(),
        children: VecDeque::new(),
        due: BTreeMap::new(),
        asked: BTreeMap::new(),
        arranged: 0,
    };
    let trouble = stage.play().err();
    let ended = stage.run.completed_at.known().unwrap_or(stage.now);
    Performance { elapsed: ended.since(case.at), run: stage.run, effects: stage.effects, trouble }
}

/// Waits between attempts are as they are written: jitter would make every expectation about time a riddle.
fn without_chance(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for spec in &mut plan.specs {
        spec.retry.jitter_percent = 0;
    }
    plan
}

impl Stage<'_> {
    fn play(&mut self) -> Result<(), String> {
        let input = RawValue::from_string(self.case.input.clone()).map_err(|error| error.to_string())?;
        let by = Name::parse("rehearsal").map_err(|error| error.message)?;
        let (flow, plan) = (self.run.plan.flow.clone(), self.run.plan_hash);
        let triggered = RunTriggered { flow, plan, rules: RULES, input, by, key: None, labels: BTreeMap::new() };
        self.tell(&Event::RunTriggered(triggered));
        self.tell(&Event::PlanCreated(PlanCreated { plan }));
        for _ in 0..limits::REHEARSAL_STEPS {
            if !self.step()? {
                return Ok(());
            }
        }
        Err(format!("it went on for more than {} steps: does it end?", limits::REHEARSAL_STEPS))
    }

    /// The next thing that happens; false if there is none.
    fn step(&mut self) -> Result<bool, String> {
        if self.run.is_advancing() {
            self.tell(&Event::RunAdvanced(RunAdvanced {}));
            return Ok(true);
        }
        if let Some(task) = self.ready.pop_front() {
            if self.run.task(task).is_some_and(|entry| entry.state == TaskState::Enqueued) {
                self.begin(task)?;
            }
            return Ok(true);
        }
        if let Some(task) = self.children.pop_front() {
            self.begin_child(task)?;
            return Ok(true);
        }
        if self.run.state.is_done() {
            return Ok(false);
        }
        let timer = self.run.timers.iter().min_by_key(|(_, due)| **due).map(|(key, due)| (*key, *due));
        let next = self.due.first_key_value().map(|((at, ..), _)| *at);
        match (next, timer) {
            (Some(at), Some((_, due))) if at <= due => self.happen(),
            (Some(_), None) => self.happen(),
            (_, Some((timer, due))) => self.fire(timer, due),
            (None, None) => return Ok(false),
        }
        Ok(true)
    }

    fn happen(&mut self) {
        let Some(((at, ..), due)) = self.due.pop_first() else { return };
        self.now = self.now.max(at);
        match due {
            // What ended otherwise in the meantime, by a timeout or a cancel, is not heard.
            Due::Finish(task, finished) => {
                let entry = self.run.task(task);
                if entry.is_some_and(|entry| entry.state == TaskState::InProgress && entry.token == finished.token) {
                    self.tell(&Event::TaskFinished(finished));
                }
            }
            Due::Say(event) => self.tell(&event),
        }
    }

    fn fire(&mut self, timer: TimerKey, due: Time) {
        self.now = self.now.max(due);
        self.tell(&self.run.fired(timer, due));
    }

    fn tell(&mut self, event: &Event) {
        let stamp = Stamp { id: EventId::mint(self.now, 0, self.run.last), at: self.now };
        self.changes.clear();
        fold(&mut self.run, stamp, event, &mut self.changes);
        self.ready.extend(&self.changes.ready);
        let begun = self.changes.moves.iter().filter(|step| step.to == TaskState::InProgress).map(|step| step.task);
        let begun: Vec<TaskIx> = begun.collect();
        for task in begun {
            match self.run.spec_of(task).work {
                Work::Gate(_) => self.answer(task),
                Work::SubRun(_) | Work::Item(_) => self.children.push_back(task),
                _ => {}
            }
        }
    }

    /// Arranges what the case's people say at a gate.
    fn answer(&mut self, gate: TaskIx) {
        let (path, case) = (self.run.path(gate), self.case);
        let generation = self.run.tasks[gate.0 as usize].generation;
        if let Some(link) = self.run.awaited(gate) {
            return self.answer_shared(link, &path);
        }
        for Said { after, approve, reject, sends, .. } in case.answers.iter().filter(|said| fits(&said.task, &path)) {
            let said = |by: &Name| Approved { task: gate, generation, by: by.clone(), comment: None };
            let approvals = approve.iter().map(|by| Event::ApprovalGiven(said(by)));
            let rejection = reject.iter().map(|by| Event::GateRejected(said(by)));
            let sent = sends.iter().filter_map(|body| self.sent(gate, generation, body));
            for event in approvals.chain(rejection).chain(sent).collect::<Vec<_>>() {
                self.arrange(self.now.plus(*after), 1, Due::Say(event));
            }
        }
    }

    /// Arranges what the case's people say at the gate of the work graph that a gate opens with.
    fn answer_shared(&mut self, link: LinkRef, path: &str) {
        let (run, case) = (self.run.child(link), self.case);
        for Said { after, approve, reject, sends, .. } in case.answers.iter().filter(|said| fits(&said.task, path)) {
            let error = reject.as_ref().map(|by| Failure::permanent("rejected", format!("rejected by {by}")));
            let output = sends.as_ref().and_then(|body| RawValue::from_string(body.to_string()).ok());
            if approve.is_empty() && error.is_none() && output.is_none() {
                continue;
            }
            let state = if error.is_some() { RunState::Error } else { RunState::Complete };
            let ended = Event::LinkResolved(LinkResolved { link, run, state, output, error });
            self.arrange(self.now.plus(*after), 1, Due::Say(ended));
        }
    }

    /// What opens a gate from outside, with a body.
    fn sent(&self, gate: TaskIx, generation: u16, body: &Value) -> Option<Event> {
        let by = Name::parse("rehearsal").ok()?;
        let output = RawValue::from_string(body.to_string()).ok();
        let said = GateSatisfied { task: gate, generation, by, comment: None, delivery: None, output };
        Some(Event::GateSatisfied(said))
    }

    fn arrange(&mut self, at: Time, rank: u8, due: Due) {
        self.arranged += 1;
        self.due.insert((at, rank, self.arranged), due);
    }

    /// Begins an attempt; its stub says how it will end.
    fn begin(&mut self, task: TaskIx) -> Result<(), String> {
        let entry = self.run.tasks[task.0 as usize];
        let (path, generation, attempt) = (self.run.path(task), entry.generation, entry.attempt + 1);
        let action = match &self.run.spec_of(task).work {
            Work::Action { action, .. } => Some(action.clone()),
            _ => None,
        };
        let with = self.given(task).map_err(|failure| format!("`{path}`: {}", failure.chain()))?;
        let answer = self.ask(task, &path, action.as_deref())?;
        let (output, error) = ending(&answer, &path, &with, attempt)?;
        self.effects.push(Effect { path, action, with });
        let token = TokenHash(u64::from(attempt));
        let worker = "rehearsal".into();
        self.tell(&Event::DispatchEnqueued(DispatchEnqueued { task, generation, attempt, token, worker, lease: None }));
        let bound = self.run.spec_of(task).timeouts.attempt.filter(|bound| *bound < answer.takes);
        let (takes, output, error) = match bound {
            Some(bound) => (bound, None, Some(Failure::new("timeout", "the attempt took longer than its timeout"))),
            None => (answer.takes, output, error),
        };
        let finished = TaskFinished { task, generation, attempt, token, output, error };
        self.arrange(self.now.plus(takes), 0, Due::Finish(task, finished));
        Ok(())
    }

    /// A sub-run or an item has begun; the stub of its task or of its flow says how it will end. It is not performed.
    fn begin_child(&mut self, task: TaskIx) -> Result<(), String> {
        let (Some(link), path) = (self.run.awaited(task), self.run.path(task)) else { return Ok(()) };
        let child = self.run.child(link);
        let flow = self.run.sub_run(task).map(|sub| sub.flow.clone());
        let with = self.given(task).map_err(|failure| format!("`{path}`: {}", failure.chain()))?;
        let answer = self.ask(task, &path, flow.as_ref().map(Name::as_str))?;
        let (output, error) = ending(&answer, &path, &with, link.attempt)?;
        let state = if error.is_some() { RunState::Error } else { RunState::Complete };
        let error = error.map(|cause| match &flow {
            Some(flow) => Failure::of_sub_run(child, flow, Some(cause)),
            None => cause,
        });
        self.effects.push(Effect { path, action: flow, with });
        let ended = Event::LinkResolved(LinkResolved { link, run: child, state, output, error });
        self.arrange(self.now.plus(answer.takes), 0, Due::Say(ended));
        Ok(())
    }

    /// What an attempt is given: the arguments of an action, the variables of a command, a request.
    fn given(&self, task: TaskIx) -> Result<Value, Failure> {
        match &self.run.spec_of(task).work {
            Work::Action { with, .. } | Work::SubRun(SubRun { with, .. }) => {
                self.run.evaluate(task, with).map(Cow::into_owned)
            }
            Work::Command(command) => {
                let mut env = Map::new();
                for (name, template) in &command.env {
                    env.insert(name.clone(), self.run.evaluate(task, template)?.into_owned());
                }
                Ok(Value::Object(env))
            }
            Work::Item(item) => self.run.evaluate(task, &item.fields).map(Cow::into_owned),
            Work::Http(http) => self.run.http_request(task, http, None),
            _ => Ok(Value::Null),
        }
    }

    fn ask(&mut self, task: TaskIx, path: &str, action: Option<&str>) -> Result<Answer, String> {
        let case = self.case;
        let found = case.stubs.iter().enumerate().find(|(_, stub)| match stub.of {
            Of::Task | Of::Tasks => fits(&stub.name, path),
            Of::Action => action == Some(stub.name.as_str()),
        });
        let Some((number, stub)) = found else {
            let (what, name) = match action {
                Some(action) => (format!("the action `{action}`"), action),
                None => ("a command".to_owned(), path),
            };
            return Err(format!(
                "`{path}` asked for {what}, and no stub answers it: add `stubs: {{ '{name}': {{ returns: … }} }}`"
            ));
        };
        // The answers of an action are for whoever asks next; those of tasks are for each task.
        let whose = (number, (stub.of != Of::Action).then_some(task));
        let times = self.asked.entry(whose).or_default();
        *times += 1;
        match &stub.says {
            Says::Always(answer) => Ok(answer.clone()),
            Says::InTurn(answers) => answers.get(*times - 1).cloned().ok_or_else(|| {
                format!("the stub `{}` has {} answers, but `{path}` asked once more", stub.name, answers.len())
            }),
        }
    }
}

/// What an attempt comes to as its stub says: what it makes, or why it fails.
fn ending(answer: &Answer, path: &str, with: &Value, attempt: u16) -> Result<Ending, String> {
    match &answer.ends {
        Ends::Fails(failure) => Ok((None, Some((**failure).clone()))),
        Ends::Returns(template) => {
            let seen = Seen { with: with.clone(), attempt: attempt.into() };
            let made = template.eval(&seen).map(Cow::into_owned).map_err(|failure| {
                format!("what the stub for `{path}` returns cannot be computed: {}", failure.chain())
            })?;
            Ok((RawValue::from_string(made.to_string()).ok(), None))
        }
    }
}

/// What an attempt made, or why it failed.
type Ending = (Option<Box<RawValue>>, Option<Failure>);

/// What the output of a stub sees.
struct Seen {
    with: Value,
    attempt: Value,
}

impl<'v> Values<'v> for Seen {
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>> {
        let Root::Var(var) = root else { return None };
        match VARIABLES.get(*var as usize).copied() {
            Some("attempt") => Some(Cow::Owned(self.attempt.clone())),
            Some(_) => Some(Cow::Owned(self.with.clone())),
            None => None,
        }
    }
}
