//! A plan in words: its regions one after the other, each with its tasks or its statements.
//!
//! This is what the fold follows. Nothing in it was added for people, so names of variables are taken from the
//! expressions that use them; one that nothing uses has only a number.

use super::{Join, Plan, Publish, ROOT, Region, Resolution, Share, Spec, Statement, Var, Work};
use crate::expr::Expr;
use crate::gate::{Escalation, Gate, Wait};
use crate::name::Name;
use crate::plan::Items;
use crate::retry::Retry;
use crate::template::Root;
use std::collections::BTreeMap;

/// Longest script or expression that is shown.
const LONGEST: usize = 60;

/// A region in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlined {
    /// `region 1, the body of for: a chain`
    pub head: String,
    /// Its tasks or statements, in order.
    pub lines: Vec<String>,
}

impl Plan {
    /// The regions in words, in their order.
    pub fn outline(&self) -> Vec<Outlined> {
        let outline = Outline::new(self);
        (0u32..).zip(&self.regions).map(|(number, region)| outline.region(number, region)).collect()
    }
}

struct Outline<'p> {
    plan: &'p Plan,
    /// What each region is for.
    roles: BTreeMap<u32, String>,
    /// The body that a region's variables are numbered in.
    bodies: BTreeMap<u32, u32>,
    /// What variables are called, by their body.
    names: BTreeMap<(u32, Var), String>,
}

impl<'p> Outline<'p> {
    fn new(plan: &'p Plan) -> Self {
        let mut outline = Self {
            plan,
            roles: BTreeMap::from([(ROOT, "the root".to_owned())]),
            bodies: BTreeMap::from([(ROOT, ROOT)]),
            names: BTreeMap::new(),
        };
        for (var, input) in (0..).zip(&plan.inputs) {
            outline.names.insert((ROOT, var), input.name.to_string());
        }
        // Regions come before those inside of them, so what holds one is known when it is met.
        for (number, region) in (0u32..).zip(&plan.regions) {
            let body = outline.bodies.get(&number).copied().unwrap_or(number);
            for node in 0..region.len() {
                let work = &plan.spec(number, node).work;
                outline.enter(region.name(node), work, body);
                work.expressions(&mut |expr| outline.learn(body, expr));
                if let Some(limit) = &plan.spec(number, node).share.limit {
                    outline.learn(body, &limit.key);
                }
            }
            let exprs = region.script().into_iter().flatten().filter_map(Statement::expr);
            exprs.for_each(|expr| outline.learn(body, expr));
        }
        outline
    }

    /// Notes what the regions of a composite are for.
    fn enter(&mut self, name: &str, work: &Work, body: u32) {
        for (index, region) in (0u32..).zip(work.regions()) {
            let role = match work {
                Work::Branch(_) => format!("arm {} of {name}", index + 1),
                Work::Parallel(_) => format!("arm {} of {name}", index + 1),
                Work::Try(_) if index > 0 => format!("handler {index} of {name}"),
                Work::Call(call) => format!("the function {}", call.function),
                Work::Spread(_) => format!("one item of {name}"),
                _ => format!("the body of {name}"),
            };
            self.roles.entry(region).or_insert(role);
            let inner = if matches!(work, Work::Call(_)) { region } else { body };
            self.bodies.entry(region).or_insert(inner);
        }
    }

    fn learn(&mut self, body: u32, expr: &Expr) {
        for (name, root) in expr.names() {
            if let Root::Var(var) = root {
                self.names.entry((body, *var)).or_insert_with(|| name.to_owned());
            }
        }
    }

    fn region(&self, number: u32, region: &Region) -> Outlined {
        let role = self.roles.get(&number).map_or("not used", String::as_str);
        let body = self.bodies.get(&number).copied().unwrap_or(number);
        let nodes = || (0..region.len()).map(|node| self.node(number, region, node));
        let (kind, lines) = match region.script() {
            Some(script) => ("a chain", script.iter().map(|line| self.statement(number, region, body, line)).collect()),
            None => ("a graph", nodes().collect()),
        };
        let told = if number == ROOT { published(&self.plan.publish) } else { String::new() };
        Outlined { head: format!("region {number}, {role}: {kind}{told}"), lines }
    }

    /// `publish: run ./publish.sh, after build and approve (failed), when …, retry 5`
    fn node(&self, number: u32, region: &Region, node: u32) -> String {
        let spec = self.plan.spec(number, node);
        let mut said = format!("{}: {}", region.name(node), self.work(&spec.work, number));
        let needs: Vec<String> = region
            .needs(node)
            .map(|(_, need)| {
                let ends = Resolution::ALL.into_iter().filter(|end| need.accepts.contains(*end)).map(word);
                let ends: Vec<&str> = ends.collect();
                let only_success = ends == [word(Resolution::Success)];
                let ends = if only_success { String::new() } else { format!(" ({})", ends.join(" or ")) };
                format!("{}{ends}", region.name(need.up))
            })
            .collect();
        if !needs.is_empty() {
            let join = match region.join(node) {
                Join::All => "after",
                Join::Any => "after any of",
                Join::Count(_) => "after some of",
            };
            said += &format!(", {join} {}", needs.join(" and "));
        }
        said + &policies(spec)
    }

    fn statement(&self, number: u32, region: &Region, body: u32, line: &Statement) -> String {
        match line {
            Statement::Do { node, to } => {
                let spec = self.plan.spec(number, *node);
                let work = format!("{}: {}", region.name(*node), self.work(&spec.work, number));
                format!("{}{work}{}", self.targets(body, to), policies(spec))
            }
            Statement::Let { to, value } => format!("{}{}", self.targets(body, to), short(value.text())),
            Statement::Return(value) => format!("return {}", short(value.text())),
            Statement::Break => "break".into(),
            Statement::Continue => "continue".into(),
            Statement::Raise { kind, message } => format!("raise {kind}({})", short(message.text())),
            Statement::RaiseAgain => "raise".into(),
        }
    }

    /// `total = `, or nothing.
    fn targets(&self, body: u32, to: &[Var]) -> String {
        if to.is_empty() {
            return String::new();
        }
        let names: Vec<String> = to.iter().map(|var| self.name(body, *var)).collect();
        format!("{} = ", names.join(", "))
    }

    fn name(&self, body: u32, var: Var) -> String {
        self.names.get(&(body, var)).cloned().unwrap_or_else(|| format!("variable {var}"))
    }

    fn work(&self, work: &Work, number: u32) -> String {
        let body = self.bodies.get(&number).copied().unwrap_or(number);
        match work {
            Work::Action { action, .. } => format!("action {action}"),
            Work::Command(command) => format!("run {}", short(&command.script)),
            Work::Http(http) => format!("http {} {}", http.method.as_str(), short(&http.url.shown())),
            Work::Gate(gate) => of_gate(gate),
            Work::Sleep(span) => format!("sleep {}", short(span.text())),
            Work::SubRun(sub) => format!("flow {}, plan {}", sub.flow, sub.plan),
            Work::Item(item) => format!("item {}", short(&item.title())),
            Work::Emit(emit) => format!("emit {}, {}", emit.name, emit.delivery.word()),
            Work::Spread(spread) => {
                let items = match &spread.items {
                    Items::Literal(list) => format!("{} items", list.len()),
                    Items::Expr(items) => short(items.text()),
                };
                let gather = gather(spread.tolerate, spread.fail_fast);
                format!("spread over {items}, each region {}{gather}", spread.region)
            }
            Work::Parallel(parallel) => {
                format!("parallel {}{}", regions(work), gather(parallel.tolerate, parallel.fail_fast))
            }
            Work::Branch(branch) => {
                let arms = branch.arms.iter().map(|arm| match &arm.when {
                    Some(when) => format!("if {} then region {}", short(when.text()), arm.region),
                    None => format!("else region {}", arm.region),
                });
                arms.collect::<Vec<_>>().join(", ")
            }
            Work::For(each) => {
                let to: Vec<String> = each.to.iter().map(|var| self.name(body, *var)).collect();
                format!("for {} in {}, region {}", to.join(", "), short(each.items.text()), each.region)
            }
            Work::While(each) => format!("while {}, region {}", short(each.when.text()), each.region),
            Work::Try(tried) => {
                let handlers = tried.handlers.iter().map(|handler| {
                    let kinds = if handler.kinds.is_empty() { "all".into() } else { handler.kinds.join(", ") };
                    format!(", except {kinds} region {}", handler.region)
                });
                format!("try region {}{}", tried.body, handlers.collect::<String>())
            }
            Work::Call(call) => format!("call {}, region {}", call.function, call.region),
        }
    }
}

fn regions(work: &Work) -> String {
    let all: Vec<String> = work.regions().map(|region| format!("region {region}")).collect();
    all.join(" and ")
}

fn gather(tolerate: u32, fail_fast: bool) -> String {
    let tolerate = if tolerate > 0 { format!(", tolerate {tolerate}") } else { String::new() };
    tolerate + if fail_fast { ", fail_fast" } else { "" }
}

fn of_gate(gate: &Gate) -> String {
    let deadline = gate.deadline.map_or(String::new(), |span| format!(", deadline {span}"));
    let what = match &gate.wait {
        Wait::After(span) => format!("gate, opens after {span}"),
        Wait::Until(at) => format!("gate, opens at {at}"),
        Wait::Approval { from, count } => {
            let from: Vec<&str> = from.iter().map(Name::as_str).collect();
            let of = if from.is_empty() { "anybody".to_owned() } else { from.join(", ") };
            format!("gate, {count} of {of}")
        }
        Wait::Webhook => "gate, opens when its address is called".to_owned(),
        Wait::External { system, id } => format!("gate, opens when {system} says so of {}", id.shown()),
        Wait::Shared { gate } => format!("gate, opens with {} of the work graph", gate.shown()),
    };
    let more = |step: &Escalation| {
        let to: Vec<&str> = step.to.iter().map(Name::as_str).collect();
        format!(", after {} also {}", step.after, to.join(", "))
    };
    what + &gate.escalate.iter().map(more).collect::<String>() + &deadline
}

/// What is not as it is by default.
fn policies(spec: &Spec) -> String {
    let mut said = spec.when.as_ref().map_or(String::new(), |when| format!(", when {}", short(when.text())));
    if spec.retry.max_attempts != Retry::default().max_attempts {
        said += &match spec.retry.max_attempts {
            1 => ", one attempt".to_owned(),
            more => format!(", at most {more} attempts"),
        };
    }
    let bounds = [("timeout", spec.timeouts.attempt), ("overall", spec.timeouts.overall)];
    for (word, bound) in bounds {
        said += &bound.map_or(String::new(), |span| format!(", {word} {span}"));
    }
    said + &share(&spec.share) + &published(&spec.publish)
}

/// What the outside world is told, and when.
fn published(publish: &[Publish]) -> String {
    let one = |p: &Publish| format!(", publishes {} on {} ({})", p.name, p.condition.word(), p.delivery.word());
    publish.iter().map(one).collect()
}

fn share(share: &Share) -> String {
    let mut said = share.queue.as_ref().map_or(String::new(), |queue| format!(", queue {queue}"));
    if share.priority != 0 {
        said += &format!(", priority {}", share.priority);
    }
    if let Some(limit) = &share.limit {
        let max = limit.max.map_or(String::new(), |max| format!(" {max} at once"));
        let rate = limit.rate.map_or(String::new(), |rate| format!(" {rate}"));
        said += &format!(", limit{max}{rate} by {}", short(limit.key.text()));
    }
    said
}

fn word(end: Resolution) -> &'static str {
    match end {
        Resolution::Success => "ok",
        Resolution::Failed => "failed",
        Resolution::Skipped => "skipped",
        Resolution::Cancelled => "cancelled",
    }
}

/// One line, and not too long.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let cut: String = line.chars().take(LONGEST).collect();
    let more = cut.len() < line.len() || text.trim_end().lines().count() > 1;
    format!("{cut}{}", if more { " …" } else { "" })
}

#[cfg(test)]
mod tests {
    fn check(text: &str, lines: &[&str]) {
        let plan =
            crate::flow::compile_file(text, "flow").unwrap_or_else(|problems| panic!("{problems}")).remove(0).plan;
        let outlined = plan.outline();
        let said: Vec<String> = outlined
            .into_iter()
            .flat_map(|region| {
                std::iter::once(region.head).chain(region.lines.into_iter().map(|line| format!("  {line}")))
            })
            .collect();
        assert_eq!(said, lines, "{said:#?}");
    }

    #[test]
    fn a_graph_is_its_tasks_with_what_they_wait_for() {
        check(
            "flow: f\ninputs: { xs: { type: list } }\ntasks:\n  a: { run: \"echo 1\\necho 2\", retry: 5, timeout: 1m }\n  b: { after: { a: failed }, each: inputs.xs, tolerate: 2, action: do.it }\n  c: { after: [a, b], join: any, when: size(inputs.xs) > 1, gate: { approval: { from: [lead] }, deadline: 1h } }\n",
            &[
                "region 0, the root: a graph",
                "  a: run echo 1 …, at most 5 attempts, timeout 1m",
                "  b: spread over inputs.xs, each region 1, tolerate 2, after a (failed)",
                "  c: gate, 1 of lead, deadline 1h, after any of a and b, when size(inputs.xs) > 1",
                "region 1, one item of b: a graph",
                "  b: action do.it",
            ],
        );
    }

    #[test]
    fn a_program_is_its_statements_with_the_regions_they_lead_to() {
        check(
            "flow f(xs: list):\n    total = 0\n    for x in xs:\n        y = twice(x)\n        total = total + y\n    try:\n        sleep 1h\n    except Net, Disk:\n        raise\n    if total > 3:\n        return total\n    else:\n        raise Few(\"few\")\n\nfn twice(v):\n    w = @double(v=v) [retry: 1]\n    return w\n",
            &[
                "region 0, the root: a chain",
                "  total = 0",
                "  for: for x in xs, region 1",
                "  try: try region 2, except Net, Disk region 3",
                "  if: if total > 3 then region 4, else region 5",
                "region 1, the body of for: a chain",
                "  y = twice: call twice, region 6",
                "  total = total + y",
                "region 2, the body of try: a chain",
                "  sleep: gate, opens after 1h",
                "region 3, handler 1 of try: a chain",
                "  raise",
                "region 4, arm 1 of if: a chain",
                "  return total",
                "region 5, arm 2 of if: a chain",
                "  raise Few(\"few\")",
                "region 6, the function twice: a chain",
                "  w = w: action double, one attempt",
                "  return w",
            ],
        );
    }
}
