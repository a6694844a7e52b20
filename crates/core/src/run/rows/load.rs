//! A run out of its rows. Damage is an error here, never memory or a panic.

use super::given::GivenRows;
use super::{CompositeBody, RunBody, Stalled, TaskBody};
use crate::error::{Error, Result};
use crate::event::{TaskIx, TimerKey, known_rules};
use crate::limits;
use crate::plan::{Plan, Var, Work};
use crate::rows::{GivenRow, RunRow, TaskRow};
use crate::run::{Chain, Chunk, Composite, GONE_SCOPE, GONE_TASK, Held, Reason, Run, Scope, Task};
use crate::state::TaskState;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the chain of a task was handed since it began.
type Handed = (TaskIx, Vec<(Var, Held)>);
/// The same by the number of the chain's scope.
type Since = BTreeMap<u32, Vec<(Var, Held)>>;

impl Run {
    /// A run as its rows say it is. The ledger's tail is still to be folded.
    pub fn from_rows(row: &RunRow, tasks: Vec<TaskRow>, given: Vec<GivenRow>, plan: Arc<Plan>) -> Result<Self> {
        let corrupt = |what: &str| {
            let message = format!(
                "the rows of run {} do not fit together: {what}. Rebuild them with `edgewise doctor --rebuild`",
                row.id
            );
            Error::corrupt("bad_rows", message)
        };
        let body: RunBody = serde_json::from_str(&row.body).map_err(|_| corrupt("its body cannot be read"))?;
        // The next event, and the next one of a type that is not known, must still have a number.
        if row.applied_seq > u64::MAX / 2 || u64::from(body.unknown) > row.applied_seq {
            return Err(corrupt("its seq is not one that a ledger comes to"));
        }
        if body.generation == 0 {
            return Err(corrupt("its generation is not one that a run has"));
        }
        let mut given = GivenRows::new(given);
        let about = given.back_in(body.about, body.given).ok_or_else(|| corrupt("its input is missing"))?;
        about.as_ref().map_or(Ok(()), |about| known_rules(about.rules))?;
        let mut run = Run::new(row.id, row.plan, plan);
        run.seq = row.applied_seq;
        run.last = row.version;
        run.state = row.state;
        run.paused = row.paused;
        run.started_at = row.started_at;
        run.completed_at = row.completed_at;
        run.about = about;
        run.parent = body.parent;
        run.disowned = body.disowned.into_iter().collect();
        run.planned = body.planned;
        run.generation = body.generation;
        run.cancel = body.cancel;
        run.resolved = body.resolved;
        run.given_up = body.given_up;
        run.frozen = body.frozen;
        run.kept = body.kept;
        run.unknown = body.unknown;
        if run.planned {
            run.add_root();
        }
        run.end = body.end;
        // Until they are counted anew: no composite's row may claim more tasks than the run says it made.
        let counted = || row.counts.iter().fold(0_u32, |sum, count| sum.saturating_add(*count));
        run.counts = [0; 11];
        run.counts[0] = body.made.map_or_else(counted, |(_, tasks, _)| tasks);
        let mut since = Vec::new();
        for task in tasks {
            since.extend(run.put_back(&task, &mut given).ok_or_else(|| corrupt("a task does not fit its plan"))?);
        }
        if let Some(made) = body.made {
            run.make_room(made).ok_or_else(|| corrupt("it has more scopes than it made"))?;
        }
        let made = body.made.map(|(_, _, edges)| edges);
        let edges = run.laid_out(made).ok_or_else(|| corrupt("a composite or its scopes are missing"))?;
        run.edges.resize(edges, 0);
        let since =
            run.put_back_chains(since, body.stalled).ok_or_else(|| corrupt("a program stands where it cannot"))?;
        run.derive_edges();
        run.derive_counts();
        run.put_back_variables(since);
        if run.may_have_gaps() {
            run.counts = row.counts;
        }
        Ok(run)
    }

    /// Some have given scopes back: their numbers are not used again.
    fn make_room(&mut self, (scopes, tasks, edges): (u32, u32, u32)) -> Option<()> {
        let fits = scopes as usize >= self.scopes.len() && tasks as usize >= self.tasks.len();
        let few = tasks as usize <= limits::RUN_TASKS && scopes as usize <= limits::RUN_TASKS + 1;
        if !fits || !few || u64::from(edges) > self.most_edges(u64::from(tasks)) {
            return None;
        }
        self.scopes.extend_to(scopes as usize, GONE_SCOPE);
        self.tasks.extend_to(tasks as usize, GONE_TASK);
        Some(())
    }

    /// Gives what its chain was handed since it began, if it says so.
    fn put_back(&mut self, row: &TaskRow, given: &mut GivenRows) -> Option<Option<Handed>> {
        if self.may_have_gaps() && self.task(row.task).is_none() {
            // Of a scope that is over.
            return Some(None);
        }
        self.task(row.task)?;
        if row.attempt > limits::MAX_ATTEMPTS || row.generation == 0 {
            return None;
        }
        let task = &mut self.tasks[row.task.0 as usize];
        task.version = row.version;
        task.ready_at = row.ready_at;
        task.started_at = row.started_at;
        task.completed_at = row.completed_at;
        task.token = row.token;
        task.generation = row.generation;
        task.attempt = row.attempt;
        task.state = row.state;
        if task.scope != row.scope {
            return None;
        }
        if let Some(text) = &row.output {
            self.outputs.insert(row.task, Arc::new(serde_json::from_str(text).ok()?));
        }
        if let Some(text) = &row.error {
            self.reasons.insert(row.task, serde_json::from_str::<Reason>(text).ok()?);
        }
        let Some(text) = &row.body else { return Some(None) };
        let mut body: TaskBody = serde_json::from_str(text).ok()?;
        given.back_to(row.task, &mut body)?;
        for (kind, attempt, due) in body.timers {
            self.timers.insert(TimerKey { task: row.task, kind, generation: row.generation, attempt }, due);
        }
        if !body.returned.is_empty() {
            self.returned.insert(row.task, body.returned);
        }
        if let Some(adopted) = body.adopted {
            self.adopted.insert(row.task, adopted);
        }
        if !body.approvals.is_empty() {
            self.approvals.insert(row.task, body.approvals);
        }
        if !body.escalated.is_empty() {
            self.escalated.insert(row.task, body.escalated);
        }
        if let Some(composite) = body.composite {
            self.put_back_composite(row.task, composite)?;
        }
        if !body.before.is_empty() {
            self.before.insert(row.task, body.before);
        }
        Some((!body.since.is_empty()).then_some((row.task, body.since)))
    }

    fn put_back_composite(&mut self, task: TaskIx, body: CompositeBody) -> Option<()> {
        let work = &self.spec_of(task).work;
        let at_once = matches!(work, Work::Spread(_) | Work::Parallel(_));
        let most = if matches!(work, Work::Spread(_)) { body.items.len() as u32 } else { u32::MAX };
        for chunk in &body.chunks {
            let region = self.spec_of(task).work.region_at(chunk.index)?;
            let end = chunk.index.checked_add(chunk.count)?;
            if end > most
                || chunk.generation == 0
                || (chunk.count > 1 && most == u32::MAX)
                || !self.may_hold(chunk, region)
            {
                return None;
            }
            // Chunks of several composites may interleave; they come back in the order of their scopes below.
            self.reserve_scopes(chunk, region, task);
        }
        let CompositeBody { items, total, chunks, caught, ended, handed } = body;
        let (done, failed) = ended.unwrap_or_default();
        let state = Composite { items, total, chunks, done, failed, caught, handed };
        if at_once && state.made() < state.total && !self.tasks[task.0 as usize].state.is_done() {
            self.advancing.insert(task);
        }
        self.composites.insert(task, state);
        Some(())
    }

    /// A chain stands at its one task that has begun and is not done, or where the fold stopped. Gives what each
    /// was handed since.
    fn put_back_chains(&mut self, since: Vec<Handed>, stalled: Vec<Stalled>) -> Option<Since> {
        let mut of_task: BTreeMap<TaskIx, Vec<(Var, Held)>> = since.into_iter().collect();
        let mut since = Since::new();
        let begun = |task: &Task| task.state != TaskState::Pending && !task.state.is_done();
        let open: Vec<TaskIx> =
            self.present().filter(|t| begun(&self.tasks[t.0 as usize]) && self.in_chain(*t)).collect();
        for task in open {
            let number = self.tasks[task.0 as usize].scope;
            let scope = self.scopes[number as usize];
            let at = self.region_of(&scope).statement_of(task.0 - scope.task)?;
            self.put_back_chain(number, at)?;
            let handed = of_task.remove(&task).unwrap_or_default();
            if let Some(composite) = self.composites.get_mut(&task) {
                composite.handed.clone_from(&handed);
            }
            since.insert(number, handed);
        }
        for Stalled { scope, at, since: handed } in stalled {
            let found = self.scopes.get(scope as usize)?;
            if at as usize > self.region_of(found).script()?.len() {
                return None;
            }
            self.stalled.insert(scope);
            self.put_back_chain(scope, at)?;
            since.insert(scope, handed);
        }
        Some(since)
    }

    fn put_back_chain(&mut self, number: u32, at: u32) -> Option<()> {
        self.chains.insert(number, Chain { at, ..Chain::default() }).is_none().then_some(())
    }

    /// What was assigned in each chain. Last, because what a spread comes to is known only once its items are.
    fn put_back_variables(&mut self, since: Since) {
        for (number, handed) in since {
            let scope = self.scopes[number as usize];
            let mut chain = self.chains.remove(&number).unwrap_or_default();
            for task in (scope.task..scope.task + self.region_of(&scope).len()).map(TaskIx) {
                for (var, held) in self.before.get(&task).into_iter().flatten() {
                    chain.vars.insert(*var, self.unheld(held.clone()));
                }
            }
            for (var, held) in handed {
                chain.assign(var, self.unheld(held));
            }
            self.chains.insert(number, chain);
        }
    }

    /// Whether scopes at this place stay within what the run has come to: damage must not become memory.
    fn may_hold(&self, chunk: &Chunk, region: u32) -> bool {
        let region = &self.plan.regions[region as usize];
        let end = |first: u32, each: u32| u64::from(first) + u64::from(chunk.count) * u64::from(each);
        let tasks: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let (tasks, scopes) = (tasks.min(limits::RUN_TASKS as u64), limits::RUN_TASKS as u64 + 1);
        end(chunk.task, region.len()) <= tasks
            && end(chunk.scope, 1) <= scopes
            && end(chunk.edge, region.edge_count()) <= self.most_edges(tasks)
    }

    /// How many edges so many tasks have at most.
    fn most_edges(&self, tasks: u64) -> u64 {
        let densest = self.plan.regions.iter().map(|r| r.edge_count().div_ceil(r.len().max(1))).max();
        tasks * u64::from(densest.unwrap_or(0))
    }

    /// How many edges there are, if scopes lie one after the other with nothing missing in between. Where some may
    /// have been given back, the row says how many were made.
    fn laid_out(&self, made: Option<u32>) -> Option<usize> {
        let (mut task, mut edge) = (0, 0);
        let gaps = self.may_have_gaps();
        for scope in self.scopes.iter() {
            if *scope == GONE_SCOPE {
                if gaps {
                    continue;
                }
                return None;
            }
            let after = scope.task >= task && scope.edge >= edge && gaps;
            if !((scope.task, scope.edge) == (task, edge) || after) {
                return None;
            }
            task = scope.task + self.region_of(scope).len();
            edge = scope.edge + self.region_of(scope).edge_count();
        }
        let (tasks, end) = (self.tasks.len(), task as usize);
        let edges = if gaps { made.filter(|made| *made >= edge)? } else { edge };
        (tasks == end || (gaps && tasks >= end)).then_some(edges as usize)
    }

    /// Lays scopes out exactly where they were, whatever is missing before them comes with its own composite. Edges
    /// follow once all scopes are known to be there.
    fn reserve_scopes(&mut self, chunk: &Chunk, region: u32, parent: TaskIx) {
        let (nodes, edges) = {
            let region = &self.plan.regions[region as usize];
            (region.len(), region.edge_count())
        };
        self.scopes.extend_to((chunk.scope + chunk.count) as usize, GONE_SCOPE);
        self.tasks.extend_to((chunk.task + chunk.count * nodes) as usize, GONE_TASK);
        for n in 0..chunk.count {
            let number = chunk.scope + n;
            let (task, edge) = (chunk.task + n * nodes, chunk.edge + n * edges);
            let (index, generation) = (chunk.index + n, chunk.generation);
            let scope = Scope { region, task, edge, parent, index, generation, open: 0, bad: 0 };
            self.scopes.put(number as usize, scope);
            for t in task..task + nodes {
                self.tasks.put(t as usize, Task { scope: number, generation, ..Task::default() });
            }
        }
    }

    /// All out-edges of a task resolve alike, so they follow from its state, but for those that are kept.
    fn derive_edges(&mut self) {
        let plan = Arc::clone(&self.plan);
        for number in 0..self.scopes.len() {
            let Some(scope) = self.scopes.get(number).copied() else { continue };
            let region = &plan.regions[scope.region as usize];
            for edge in 0..region.edge_count() {
                let fact = self.fact_of(TaskIx(scope.task + region.edge(edge).up));
                self.edges[(scope.edge + edge) as usize] = fact.map_or(0, |r| r as u8);
            }
        }
        for (edge, fact) in &self.kept {
            if let Some(byte) = self.edges.get_mut(*edge as usize) {
                *byte = *fact as u8;
            }
        }
    }

    fn derive_counts(&mut self) {
        self.counts = [0; 11];
        self.leased = 0;
        for number in 0..self.scopes.len() {
            if self.scopes.get(number).is_some() {
                (self.scopes[number].open, self.scopes[number].bad) = (0, 0);
            }
        }
        for ix in (0..self.total()).map(TaskIx) {
            if self.task(ix).is_none() {
                continue;
            }
            let (accepted, refused) = self.count_edges(ix);
            let leasable = self.is_leasable(ix);
            let task = &mut self.tasks[ix.0 as usize];
            (task.accepted, task.refused) = (accepted, refused);
            self.counts[task.state as usize] += 1;
            self.leased += u32::from(leasable && task.state == TaskState::InProgress);
            let scope = &mut self.scopes[task.scope as usize];
            scope.open += u32::from(!task.state.is_done());
            scope.bad += u32::from(matches!(task.state, TaskState::Error | TaskState::Cancelled));
        }
        let at_once = |t: &TaskIx| matches!(self.spec_of(*t).work, Work::Spread(_) | Work::Parallel(_));
        let spreads: Vec<TaskIx> = self.composites.keys().rev().copied().filter(at_once).collect();
        for spread in spreads {
            self.recount_spread(spread);
            let ended_well = self.tasks[spread.0 as usize].state == TaskState::Complete;
            if ended_well
                && !self.outputs.contains_key(&spread)
                && let Ok(list) = self.gather(spread)
            {
                self.outputs.insert(spread, Arc::new(list));
            }
        }
    }
}
