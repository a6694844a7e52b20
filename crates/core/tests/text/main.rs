//! Program text as authors write it: what it becomes, what is said when it is wrong, and how it is laid out.

mod dump;
mod format;
mod generate;
mod limits;
mod problems;
mod properties;
mod statements;
mod works;

use edgewise_core::flow::{Level, Problem, Problems};
use edgewise_core::text::parse;

/// The problems of a program, one line each; warnings say so.
fn said(text: &str) -> Vec<String> {
    let problems: Problems = parse(text, "a.flow").map_or_else(|problems| problems, |parsed| parsed.warnings);
    let line = |p: &Problem| {
        let level = if p.level == Level::Warning { " warning" } else { "" };
        let help = p.help.as_ref().map_or(String::new(), |help| format!(" -- {help}"));
        format!("{}:{}{level} {}: {}{help}", p.line, p.column, p.code, p.message)
    };
    problems.list.iter().map(line).collect()
}

/// The tree of a program without errors, as one line of text for each flow and function.
fn tree(text: &str) -> String {
    dump::program(&parse(text, "a.flow").unwrap_or_else(|problems| panic!("{text}\n{problems}")).program)
}

/// The design's example: something of everything.
const ETL: &str = r#"
flow etl(sources, limit):
    # comments and multi-line brackets are fine
    listed = @catalog.list(sources=sources) [retry: 3, backoff: 5s] [timeout: 2m]
    rows = spread listed:src -> @load(source=src) [NetworkError -> retry: 5, backoff: 30s]
    good = rows.filter(r, r.ok)
    if size(good) == 0:
        return {"loaded": 0}
    elif size(good) > limit:
        sleep 1h
    else:
        pass
    left, right = parallel:
        @publish(rows=good)
        @index(rows=good)
    total = 0
    for r in good:
        total = total + r.count
        if total > limit:
            break
    try:
        @notify(total=total)
    except SmtpError as e:
        @page(reason=e.message)
    return {"loaded": total, "published": left}

fn helper(x):
    return @double(v=x)
"#;
