//! A tree as one line of text, without places: what tests compare.

use edgewise_core::text::tree::*;

pub fn program(program: &Program) -> String {
    let flows = program.flows.iter().map(|f| {
        let header = format!("flow {}({}){}", f.name, parameters(&f.parameters), policies(&f.defaults));
        format!("{header} {}", block(&f.body))
    });
    let functions = program
        .functions
        .iter()
        .map(|f| format!("fn {}({}) {}", f.name.text, parameters(&f.parameters), block(&f.body)));
    flows.chain(functions).collect::<Vec<_>>().join("\n")
}

fn parameters(parameters: &[Parameter]) -> String {
    let each = parameters.iter().map(|p| {
        let default = p.default.as_ref().map_or(String::new(), |e| format!(" = {}", expr(e)));
        format!("{}: {}{default}", p.name.text, p.kind)
    });
    each.collect::<Vec<_>>().join(", ")
}

pub fn block(block: &Block) -> String {
    format!("{{ {} }}", block.iter().map(statement).collect::<Vec<_>>().join("; "))
}

pub fn statement(statement: &Statement) -> String {
    match &statement.kind {
        StatementKind::Assign { targets, value: v } => format!("{} = {}", words(targets), value(v)),
        StatementKind::Do(w @ Work::Wait(_)) => work(w),
        StatementKind::Do(w) => format!("do {}", work(w)),
        StatementKind::If { arms, otherwise } => {
            let arms = arms.iter().map(|(e, b)| format!("if {} {}", expr(e), block(b)));
            let last = otherwise.iter().map(|b| format!("else {}", block(b)));
            arms.chain(last).collect::<Vec<_>>().join(" ")
        }
        StatementKind::For { item, list, body } => format!("for {} in {} {}", item.text, expr(list), block(body)),
        StatementKind::While { condition, body } => format!("while {} {}", expr(condition), block(body)),
        StatementKind::Break => "break".into(),
        StatementKind::Continue => "continue".into(),
        StatementKind::Try { body, handlers } => {
            let handlers = handlers.iter().map(|h| {
                let name = h.name.as_ref().map_or(String::new(), |n| format!(" as {}", n.text));
                format!(" except [{}]{name} {}", words(&h.types), block(&h.body))
            });
            format!("try {}{}", block(body), handlers.collect::<String>())
        }
        StatementKind::Raise { kind, message } => format!("raise {}({})", kind.text, maybe(message.as_ref())),
        StatementKind::Reraise => "raise".into(),
        StatementKind::Return(v) => format!("return {}", v.as_ref().map_or("nothing".into(), value)),
        StatementKind::Sleep(Sleep::For(time)) => format!("sleep for {time}"),
        StatementKind::Sleep(Sleep::Value(e)) => format!("sleep {}", expr(e)),
        StatementKind::Pass => "pass".into(),
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::Expr(e) => expr(e),
        Value::Work(w) => work(w),
    }
}

fn work(work: &Work) -> String {
    match work {
        Work::Call(c) => call(c),
        Work::Spread(s) => {
            format!("spread {} as {} -> {}{}", expr(&s.list), s.item.text, call(&s.call), gather(s.gather))
        }
        Work::Parallel(p) => {
            let calls = p.calls.iter().map(call).collect::<Vec<_>>();
            format!("parallel {{ {} }}{}", calls.join("; "), gather(p.gather))
        }
        Work::Wait(w) => {
            let id = w.id.as_ref().map_or(String::new(), |id| format!(" id={}", expr(id)));
            format!("wait {}{id}", serde_json::to_string(&w.gate).unwrap())
        }
    }
}

fn call(call: &Call) -> String {
    let named = |list: &[(Word, Expr)]| list.iter().map(|(w, e)| format!("{}={}", w.text, expr(e))).collect::<Vec<_>>();
    match call {
        Call::Action(a) => format!("@{}({}){}", a.name, named(&a.arguments).join(", "), policies(&a.policies)),
        Call::Flow(a) => format!("flow {}({}){}", a.name, named(&a.arguments).join(", "), policies(&a.policies)),
        Call::Function(f) => {
            let all: Vec<String> = f.positional.iter().map(expr).chain(named(&f.named)).collect();
            format!("{}({})", f.name.text, all.join(", "))
        }
    }
}

fn gather(gather: Gather) -> String {
    match gather {
        Gather { tolerate: 0, fail_fast: false } => String::new(),
        Gather { tolerate, fail_fast } => format!(" tolerate={tolerate} fail_fast={fail_fast}"),
    }
}

fn policies(policies: &Policies) -> String {
    let mut text = retrying(&policies.retry);
    for typed in &policies.typed {
        text += &format!(" on {}:{}", words(&typed.types), retrying(&typed.retry));
    }
    let times = policies.timeouts;
    for (name, time) in [
        ("timeout", times.attempt),
        ("overall", times.overall),
        ("queue_timeout", times.queue),
        ("heartbeat", times.heartbeat),
    ] {
        text += &time.map_or(String::new(), |time| format!(" {name}={time}"));
    }
    text += &policies.queue.as_ref().map_or(String::new(), |queue| format!(" queue={queue}"));
    text += &policies.priority.map_or(String::new(), |priority| format!(" priority={priority}"));
    let limit = &policies.limit;
    text += &limit.key.as_ref().map_or(String::new(), |key| format!(" limit={}", expr(key)));
    text += &limit.max.map_or(String::new(), |max| format!(" max={max}"));
    text += &policies.publish.as_ref().map_or(String::new(), |publish| format!(" publish={}", expr(publish)));
    text += &limit.rate.map_or(String::new(), |rate| format!(" rate={rate}"));
    text
}

fn retrying(retry: &Retrying) -> String {
    let shown = |name: &str, value: Option<String>| value.map_or(String::new(), |value| format!(" {name}={value}"));
    [
        shown("retry", retry.max_attempts.map(|n| n.to_string())),
        shown("backoff", retry.base.map(|n| n.to_string())),
        shown("kind", retry.kind.map(|kind| format!("{kind:?}").to_lowercase())),
        shown("factor", retry.factor_milli.map(|n| n.to_string())),
        shown("cap", retry.cap.map(|n| n.to_string())),
        shown("jitter", retry.jitter_percent.map(|n| n.to_string())),
    ]
    .concat()
}

fn words(words: &[Word]) -> String {
    words.iter().map(|w| w.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn maybe(value: Option<&Expr>) -> String {
    value.map_or(String::new(), expr)
}

fn expr(expr: &Expr) -> String {
    format!("‹{}›", expr.ast)
}
