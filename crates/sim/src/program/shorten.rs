//! Making a failing program shorter: lines are left out and values made simpler while it still fails.

use super::check;

/// The shortest program found that fails as this one does.
pub fn shorten(text: &str, seed: u64) -> String {
    let Some(invariant) = fails(text, seed) else { return text.to_owned() };
    let mut best = text.to_owned();
    loop {
        // Each is shorter than the one before, so there is an end to it.
        let mut shorter = candidates(&best).into_iter().filter(|text| text.len() < best.len());
        let shorter = shorter.find(|text| fails(text, seed).as_ref() == Some(&invariant));
        match shorter {
            Some(shorter) => best = shorter,
            None => return best,
        }
    }
}

fn fails(text: &str, seed: u64) -> Option<String> {
    check(text, seed).err().map(|violation| violation.invariant)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Programs that are a little simpler, the much simpler ones first.
fn candidates(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let join = |lines: Vec<String>| lines.join("\n") + "\n";
    let mut found = Vec::new();
    let own = |part: &[&str]| part.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    for at in 0..lines.len() {
        let deep = indent(lines[at]);
        let end = (at + 1..lines.len()).find(|n| indent(lines[*n]) <= deep).unwrap_or(lines.len());
        let (before, block, after) = (own(&lines[..at]), &lines[at + 1..end], own(&lines[end..]));
        found.push(join([before.clone(), after.clone()].concat()));
        if !block.is_empty() {
            let out = block.iter().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned()).collect();
            found.push(join([before.clone(), out, after.clone()].concat()));
        }
        for simpler in simpler(lines[at]) {
            found.push(join([before.clone(), vec![simpler], own(block), after.clone()].concat()));
        }
    }
    found
}

/// The line with a part of it made simpler.
fn simpler(line: &str) -> Vec<String> {
    let (space, text) = line.split_at(indent(line));
    let mut found = Vec::new();
    if text != "pass" && !text.is_empty() && !text.ends_with(':') {
        found.push("pass".to_owned());
    }
    if let Some(at) = text.find(" [").filter(|_| text.contains('@') || text.contains("parallel")) {
        let colon = if text.ends_with(':') { ":" } else { "" };
        found.push(format!("{}{colon}", &text[..at]));
    }
    if let Some((target, value)) = text.split_once(" = ") {
        found.push(value.to_owned());
        found.extend(["1", "[]"].iter().filter(|v| **v != value).map(|v| format!("{target} = {v}")));
    }
    if let Some(condition) = text.strip_prefix("if ").or_else(|| text.strip_prefix("elif "))
        && !matches!(condition, "true:" | "false:")
    {
        let word = &text[..text.len() - condition.len()];
        found.extend(["true", "false"].map(|value| format!("{word}{value}:")));
    }
    if let Some((head, list)) = text.split_once(" in ")
        && list != "[1]:"
    {
        found.extend(["[]:", "[1]:"].iter().filter(|l| **l != list).map(|l| format!("{head} in {l}")));
    }
    if let Some((head, rest)) = text.split_once("v=")
        && !rest.starts_with('1')
        && let Some(end) = rest.rfind(')')
    {
        found.push(format!("{head}v=1{}", &rest[end..]));
    }
    found.into_iter().map(|text| format!("{space}{text}")).collect()
}
