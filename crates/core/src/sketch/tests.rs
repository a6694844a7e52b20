//! Sketches in every form: the same each time, safe whatever names say, and groups with all they hold.

use super::*;
use crate::flow::compile;
use crate::state::RunState;

/// Names that try to be something else.
const HOSTILE: [&str; 10] = [
    "\"quoted\" 'twice'",
    "<script>alert(1)</script>",
    "line\nbreak\r\n\tend",
    "a --> b ]] }} |x|",
    "]]>&amp;<!--",
    "日本語 שלום \u{202e}gnp.exe",
    "\u{1b}[2J\u{7}\u{0}",
    "end",
    "\\\" ]; evil [label=\"",
    "\u{ffff}\u{2028}`#59;%%{init}%%",
];

fn node(id: &str, kind: NodeKind, inside: Option<u32>) -> Node {
    Node { id: id.into(), label: id.into(), kind, note: format!("does {id}"), inside, now: None }
}

fn edge(from: u32, to: u32) -> Edge {
    Edge { from, to, accepts: Accepts::SUCCESS, resolution: None }
}

/// A program: a statement, a loop with a branch of two arms in it, and a last one.
fn nested() -> Sketch {
    let mut sketch = Sketch::new("etl");
    let list = sketch.add(node("list", NodeKind::Action, None));
    let each = sketch.add(node("for row in rows", NodeKind::Composite("for"), None));
    let end = sketch.add(node("publish", NodeKind::Command, None));
    let fetch = sketch.add(node("fetch", NodeKind::Action, Some(each)));
    let branch = sketch.add(node("if size > limit", NodeKind::Composite("if"), Some(each)));
    let store = sketch.add(node("store", NodeKind::Action, Some(each)));
    let then = sketch.add(node("then", NodeKind::Composite("arm"), Some(branch)));
    let or = sketch.add(node("else", NodeKind::Composite("arm"), Some(branch)));
    let split = sketch.add(node("split", NodeKind::Action, Some(then)));
    let merge = sketch.add(node("merge", NodeKind::Action, Some(then)));
    sketch.add(node("keep", NodeKind::Gate, Some(or)));
    for (from, to) in [(list, each), (each, end), (fetch, branch), (branch, store), (split, merge)] {
        sketch.join(edge(from, to));
    }
    sketch
}

fn hostile() -> Sketch {
    let mut sketch = Sketch::new(HOSTILE.join(" "));
    for (n, name) in HOSTILE.iter().enumerate() {
        let inside = (n > 4).then_some(4);
        let kind = [NodeKind::Action, NodeKind::Gate, NodeKind::Spread][n % 3];
        let mut made = node(name, kind, inside);
        made.note = HOSTILE.join("\n");
        made.label = format!("{name}{}", "x".repeat(128 - name.len().min(128)));
        made.now = Some(Now { phase: Phase::Failed, attempt: 2, max_attempts: 3, count: None });
        sketch.add(made);
    }
    for (from, to) in [(0, 1), (1, 4), (5, 6), (6, 9)] {
        let accepts = Accepts::of(Resolution::Failed);
        sketch.join(Edge { from, to, accepts, resolution: Some(Resolution::Failed) });
    }
    sketch
}

/// A reader of XML that knows just enough: elements are closed in order, and attributes are quoted.
fn check_xml(text: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a bracket in {:?}", &rest[..at]);
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains('<'), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split([' ', '\n']).next().unwrap_or_default().to_owned());
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "a control character");
}

#[test]
fn an_svg_is_well_formed_and_holds_no_markup_of_others() {
    for sketch in [nested(), hostile(), Sketch::new("empty")] {
        let svg = sketch.to_svg();
        check_xml(&svg);
        assert!(!svg.contains("<script"), "{svg}");
        assert!(!svg.contains('\u{202e}'));
        assert!(svg.contains("viewBox=") && svg.contains("prefers-color-scheme: dark"));
    }
}

#[test]
fn no_name_ends_a_string_of_dot() {
    for line in hostile().to_dot().lines() {
        let mut inside = false;
        let mut escaped = false;
        let mut bare = String::new();
        for c in line.chars() {
            match c {
                _ if escaped => escaped = false,
                '\\' if inside => escaped = true,
                '"' => inside = !inside,
                c if !inside => bare.push(c),
                _ => {}
            }
        }
        assert!(!inside && !bare.contains("evil") && !bare.contains("script"), "{line}");
    }
}

#[test]
fn no_name_is_syntax_to_mermaid() {
    let text = hostile().to_mermaid();
    for line in text.lines() {
        let quoted = line.matches('"').count();
        assert!(quoted == 0 || quoted == 2, "{line}");
        let inside = line.split('"').nth(1).unwrap_or_default().replace("<br/>", "");
        assert!(!inside.contains(['<', '>', '`', '%', '{', '|', '\\']) && !inside.contains("--"), "{line}");
    }
    assert_eq!(text.lines().filter(|line| line.trim() == "end").count(), 1, "one group, one end:\n{text}");
}

#[test]
fn json_keeps_names_as_they_are_with_places_for_all() {
    let sketch = hostile();
    let text = serde_json::to_string(&sketch.to_drawing()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let all = [&value["nodes"], &value["groups"]].map(|list| list.as_array().unwrap().clone()).concat();
    assert_eq!(all.len(), HOSTILE.len());
    assert!(all.iter().any(|node| node["id"] == HOSTILE[1] && node["phase"] == "failed"));
    assert_eq!(value["groups"][0]["id"], HOSTILE[4]);
    assert_eq!(value["edges"][0]["accepts"], serde_json::json!(["failed"]));
    assert_eq!(value["edges"][0]["resolution"], "FAILED");
    for node in &all {
        let side = |a: &str, b: &str| node[a].as_i64().unwrap() + node[b].as_i64().unwrap();
        assert!(side("x", "width") <= value["width"].as_i64().unwrap());
        assert!(side("y", "height") <= value["height"].as_i64().unwrap());
    }
}

#[test]
fn every_form_is_the_same_each_time() {
    for sketch in [nested(), hostile()] {
        let forms = |sketch: &Sketch| {
            let json = serde_json::to_string(&sketch.to_drawing()).unwrap();
            [sketch.to_svg(), sketch.to_dot(), sketch.to_mermaid(), json]
        };
        assert_eq!(forms(&sketch), forms(&sketch.clone()));
    }
}

#[test]
fn groups_are_nested_in_every_form() {
    let sketch = nested();
    let (dot, mermaid) = (sketch.to_dot(), sketch.to_mermaid());
    assert_eq!(dot.matches("subgraph cluster_").count(), 4);
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert!(dot.contains("lhead=cluster_1") && dot.contains("ltail=cluster_1"), "{dot}");
    assert_eq!(mermaid.matches("subgraph ").count(), 4);
    assert_eq!(sketch.to_svg().matches("class=\"group\"").count(), 4);
}

#[test]
fn a_plan_is_drawn_with_a_spread_as_one_node() {
    let flow = "
flow: release
tasks:
  build: { run: make }
  test: { after: build, each: [unit, api], as: suite, action: ci.test }
  approve: { after: build, gate: { approval: { from: [lead, quality], count: 1 } } }
  page: { after: { test: failed, approve: [failed, cancelled] }, join: any, action: oncall.page }
";
    let plan = compile(flow, "flow.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan;
    let sketch = Sketch::of_plan(&plan);
    let shown: Vec<_> = sketch.nodes().iter().map(|n| (n.id.as_str(), n.kind.word(), n.note.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("build", "command", "make"),
            ("test", "spread", "ci.test, for each of 2 items"),
            ("approve", "gate", "approval by 1 of lead, quality"),
            ("page", "action", "oncall.page, after any of 2"),
        ]
    );
    let labels: Vec<String> = sketch.edges().iter().map(Edge::label).collect();
    assert_eq!(labels, ["", "", "failed", "failed or cancelled"]);
}

#[test]
fn the_line_of_a_node_says_how_it_goes() {
    let now = |phase, attempt, count| Now { phase, attempt, max_attempts: 3, count };
    let count = Count { done: 12, failed: 1, running: 4, total: 40 };
    for (now, line) in [
        (None, "does x"),
        (Some(now(Phase::Succeeded, 1, None)), "succeeded"),
        (Some(now(Phase::Running, 2, None)), "running, attempt 2 of 3"),
        (Some(now(Phase::Waiting, 1, None)), "waits for attempt 2 of 3"),
        (Some(now(Phase::Waiting, 0, None)), "waiting"),
        (Some(now(Phase::Running, 0, Some(count))), "12/40, 4 running, 1 failed"),
    ] {
        assert_eq!(Node { now, ..node("x", NodeKind::Action, None) }.line(), line);
    }
}

#[test]
fn the_title_of_a_run_says_where_it_is() {
    let mut sketch = nested();
    let id = RunId::from_bits(7);
    sketch.run = Some(Head { id, state: RunState::TasksInProcess, paused: true, done: 1, total: 3 });
    assert!(sketch.to_svg().contains("running, paused, 1 of 3 done"));
    assert!(sketch.to_mermaid().contains("running, paused, 1 of 3 done"));
}

#[test]
fn dot_says_things_once_cuts_what_is_long_and_puts_what_follows_a_group_below_it() {
    let id = "A-".repeat(40);
    let program = format!(
        "flow f():\n    for x in [1]:\n        a = @a()\n        b = @b()\n    came = wait external(system=jira, id=\"{id}\")\n"
    );
    let plan = crate::text::compile(&program, "f.flow").unwrap().remove(0).plan;
    let dot = Sketch::of_plan(&plan).to_dot();
    assert!(dot.contains("label=\"for each of [1]\"") && dot.contains("n3 -> n1 [ltail=cluster_0]"), "{dot}");
    let gate = dot.lines().find(|line| line.contains("label=\"came")).unwrap_or_default();
    let (label, tip) = gate.split_once("tooltip").unwrap_or_default();
    assert!(label.contains('…') && !label.contains(&id) && tip.contains(&id), "{gate}");
}
