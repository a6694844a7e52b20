//! What people see: lists, trees, pictures, with and without colour.

use crate::place::Place;

fn chain() -> Place {
    let place = Place::with(&["ew-a", "ew-b", "ew-c", "ew-d"]);
    for pair in ["ew-b ew-a", "ew-c ew-a", "ew-d ew-b", "ew-d ew-c"] {
        place.good(&format!("dep add {pair}"));
    }
    place
}

#[test]
fn a_tree_marks_what_it_has_shown_and_where_it_was_cut() {
    let place = chain();
    let whole = ". ew-d  d\n|- . ew-b  b\n|  `- o ew-a  a\n`- . ew-c  c\n   `- o ew-a  a";
    let shown = place.good("dep tree ew-d");
    assert_eq!(shown.replace("  see above", ""), whole);
    assert_eq!(place.good("dep tree ew-d --depth 1"), ". ew-d  d\n|- . ew-b  b  ..\n`- . ew-c  c  ..");
    assert!(place.good("dep tree ew-a --direction up").contains("ew-d  d"), "{shown}");
    place.good("dep add ew-a ew-d --type relates-to");
    let looped = place.good("dep tree ew-d --depth 50");
    assert!(looped.lines().count() < 12 && looped.contains("(relates-to)"), "{looped}");
    let value = place.json("dep tree ew-d --direction both");
    assert!(value["dependencies"]["branches"].is_array() && value.get("dependents").is_some(), "{value}");
}

#[test]
fn lists_line_up_and_colour_is_only_used_where_it_may() {
    let place = chain();
    place.good("update ew-d --priority 1 --tag web");
    let expected = "ID    P    WHO  STATE      TITLE\n\
                    ew-d  1         . blocked  d #web\n\
                    ew-a  3>1       o ready    a\n\
                    ew-b  3>1       . blocked  b\n\
                    ew-c  3>1       . blocked  c";
    let listed = place.good("list");
    assert_eq!(listed, expected);
    let blocked =
        "ID    P    TITLE  WAITS FOR\new-d  1    d      ew-b, ew-c\new-b  3>1  b      ew-a\new-c  3>1  c      ew-a";
    assert_eq!(place.good("blocked"), blocked);
    assert!(place.good("list --color always").contains("\u{1b}["));
    let mut plain = place.binary(&["list"]);
    let out = plain.env("NO_COLOR", "1").output().unwrap().stdout;
    assert!(!String::from_utf8(out).unwrap().contains('\u{1b}'));
}

#[test]
fn titles_from_anywhere_obey_nobody() {
    let place = Place::new();
    place
        .fed(&["batch"], "{\"op\":\"add\",\"id\":\"ew-x\",\"title\":\"a\",\"externalRef\":\"e\\u001b[2J\",\"description\":\"c\\u001b[2Jd\"}")
        .good();
    for line in ["list", "show ew-x", "why ew-x", "dep tree ew-x", "graph ew-x", "ready --explain"] {
        assert!(!place.good(line).contains('\u{1b}'), "{line}");
    }
}

#[test]
fn items_are_drawn_in_every_form() {
    let place = chain();
    let text = place.good("graph ew-d");
    for id in ["ew-a a", "ew-b b", "ew-c c", "ew-d d"] {
        assert!(text.contains(id), "{text}");
    }
    assert!(
        place.good("graph --format mermaid").contains("graph")
            || place.good("graph --format mermaid").contains("flowchart")
    );
    assert!(place.good("graph ew-a --format dot").starts_with("digraph"));
    assert!(place.good("graph ew-a --format svg").contains("<svg"));
    assert_eq!(place.json("graph")["nodes"].as_array().unwrap().len(), 4);
}

#[test]
fn a_shell_completes_ids() {
    let place = chain();
    place.write("hello.yaml", "flow: hello\ntasks:\n  hi: { run: 'true' }\n");
    let run = place.ids("run hello.yaml")[0].clone();
    place.good("register hello.yaml");
    place.good("schedule set nightly --flow hello --every 1h");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_edgewise")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for (words, word, expected) in [
        ("show", "ew-", "ew-a ew-b ew-c ew-d"),
        ("show", &run[..3], run.as_str()),
        ("cancel", &run[..3], run.as_str()),
        ("schedule pause", "ni", "nightly"),
    ] {
        let at = words.split(' ').count() + 1;
        let typed = format!(
            "eval \"$(edgewise completion bash)\"; COMP_WORDS=(edgewise {words} {word}); COMP_CWORD={at}; \
             _edgewise_with_ids edgewise {word} {words}; echo \"${{COMPREPLY[@]}}\""
        );
        let Ok(output) = place.command("bash").args(["-c", &typed]).env("PATH", &path).output() else {
            // There is no such shell here.
            return;
        };
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(expected), "{words}: {said} {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn ids_are_told_apart_by_their_form() {
    let place = chain();
    place.write("hello.yaml", "flow: hello\ntasks:\n  hi: { run: 'true' }\n");
    let run = place.ids("run hello.yaml")[0].clone();
    assert!(place.good("show @").contains("hello"), "the run is younger than the last item");
    assert!(place.good(&format!("why {run}/hi")).contains("hi"));
    assert!(place.good(&format!("history {run}")).contains("hi"));
    place.good("update ew-a --priority 2");
    assert!(place.good("show @").starts_with("o ew-a"), "and now the item is");
    assert!(place.good("show ew-b").contains("waits for"));
    let stats = place.json("stats");
    assert_eq!((&stats["items"], &stats["ready"], &stats["blocked"]), (&4.into(), &1.into(), &3.into()), "{stats}");
}
