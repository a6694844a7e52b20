//! Gates: of items and of runs, by the same commands.

use crate::place::Place;

#[test]
fn an_approval_opens_a_gate_once_the_right_people_said_yes() {
    let place = Place::with(&["ew-a"]);
    let gate = place.ids("gate create --approver ann,bob --for ew-a --title 'Legal'")[0].clone();
    assert_eq!(place.ids("blocked"), ["ew-a"]);
    let why = place.good("why ew-a");
    assert!(why.contains("ann") && why.contains(&format!("edgewise gate approve {gate} --as ann")), "{why}");
    place.check(&format!("gate approve {gate} --as ann"), &format!("approved gate {gate}"));
    place.refused(&format!("gate approve {gate} --as ann"), 4, "already_approved");
    place.check(&format!("gate withdraw {gate} --as ann"), &format!("withdrew your approval of gate {gate}"));
    place.good(&format!("gate approve {gate} --as ann"));
    place.check(&format!("gate approve {gate} --as bob"), &format!("approved gate {gate}; ew-a is ready now"));
    place.refused(&format!("gate withdraw {gate} --as ann"), 4, "gate_ended");
    let shown = place.json(&format!("gate show {gate}"));
    assert_eq!((&shown["satisfied"], &shown["satisfiedBy"]), (&true.into(), &"bob".into()), "{shown}");
}

#[test]
fn other_systems_open_their_gates_and_a_rejected_one_stays_in_the_way() {
    let place = Place::with(&["ew-a", "ew-b"]);
    let ci = place.ids("gate create --external ci 4711 --for ew-a")[0].clone();
    let hook = place.ids("gate create --webhook --for ew-b")[0].clone();
    let mut both = [ci.clone(), hook.clone()];
    both.sort();
    assert_eq!(place.ids("gate list"), both);
    place.check(&format!("gate satisfy {ci}"), &format!("opened gate {ci}; ew-a is ready now"));
    place.check(&format!("gate reject {hook} --comment 'not wanted'"), &format!("rejected gate {hook}"));
    assert_eq!(place.json("show ew-b")["blockedBy"][0]["reason"], "unsatisfiable");
    assert_eq!(place.ids("gate list"), [""; 0]);
    assert_eq!(place.ids("gate list --all").len(), 2);
}

#[test]
fn a_timer_that_ran_out_while_nothing_was_there_is_open() {
    let place = Place::with(&["ew-a", "ew-b"]);
    place.good("gate create --until 2020-01-01T00:00:00Z --for ew-a");
    place.good("gate create --until 2199-01-01T00:00:00Z --for ew-b");
    assert_eq!(place.ids("ready"), ["ew-a"], "also for who only looks");
    assert_eq!(place.ids("blocked"), ["ew-b"]);
    assert_eq!(place.json("ready --claim")["id"], "ew-a", "and for the first who acts");
    assert!(place.good("why ew-b").contains("2199"));
}

#[test]
fn gates_of_runs_and_of_items_stand_in_one_list() {
    let place = Place::with(&["ew-a"]);
    place.write("ask.yaml", "flow: ask\ntasks:\n  go: { gate: { approval: { from: [ann] } } }\n");
    let run = place.run("run ask.yaml -q --detach").out.trim().to_owned();
    let gate = place.ids("gate create --approval --for ew-a")[0].clone();
    let listed = place.json("gate list");
    let listed = listed.as_array().unwrap();
    assert!(listed.iter().any(|one| one["task"] == "go") && listed.iter().any(|one| one["id"] == gate), "{listed:?}");
    assert_eq!(place.ids("gate list ew-a"), [gate]);
    assert_eq!(place.json(&format!("gate list {run}")).as_array().unwrap().len(), 1);
    place.good(&format!("gate approve {run}/go --as ann"));
}

#[test]
fn whatever_is_needed_may_be_a_gate_or_a_run_from_either_end() {
    let place = Place::with(&["ew-a", "ew-b", "ew-c"]);
    place.write("ask.yaml", "flow: ask\ntasks:\n  go: { gate: { approval: { from: [ann] } } }\n");
    let run = place.run("run ask.yaml -q --detach").out.trim().to_owned();
    let gate = place.ids("gate create --webhook")[0].clone();
    place.check(
        &format!("dep ew-a --needs {gate}"),
        &format!("ew-a now waits for {gate} (awaits); ew-a is blocked now"),
    );
    place.check(
        &format!("dep {gate} --blocks ew-b"),
        &format!("ew-b now waits for {gate} (awaits); ew-b is blocked now"),
    );
    place.check(&format!("dep add ew-c {run}"), &format!("ew-c now waits for {run} (awaits); ew-c is blocked now"));
    place.check(&format!("dep ew-b --needs {}", &run[..10]), &format!("ew-b now waits for {run} (awaits)"));
    place.check("dep ew-a --needs ew-b", "ew-a now waits for ew-b (blocks)");
    let added = place.ids(&format!("add D --needs {gate},{run},ew-c"))[0].clone();
    let kinds = place.json(&format!("dep list {added}"));
    let mut kinds: Vec<&str> = kinds.as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
    kinds.sort();
    assert_eq!(kinds, ["awaits", "awaits", "blocks"]);
    let line = format!("{{\"op\":\"depend\",\"id\":\"ew-c\",\"on\":{gate:?}}}");
    assert_eq!(place.fed(&["batch"], &line).good().out.trim_end(), format!("ew-c now waits for {gate} (awaits)"));
}

#[test]
fn an_item_that_waits_for_a_gate_of_a_run_says_who_can_open_it() {
    let place = Place::with(&["ew-a"]);
    place.write("ask.yaml", "flow: ask\ntasks:\n  go: { gate: { approval: { from: [ann] } } }\n");
    let run = place.run("run ask.yaml -q --detach").out.trim().to_owned();
    let said = place.run(&format!("dep add ew-a {run}/go")).good();
    assert_eq!(said.out.trim_end(), format!("ew-a now waits for {run}/go (awaits); ew-a is blocked now"));
    assert_eq!(said.err, "", "it is known");
    let why = place.good("why ew-a");
    let short = &run[..8];
    assert!(why.contains(&format!("gate go of run {short} of ask is not open: ")), "{why}");
    assert!(why.contains(&format!("ann can move it on: edgewise gate approve {short} go --as ann")), "{why}");
    place.good(&format!("gate approve {run}/go --as ann"));
    assert!(place.good("why ew-a").contains("is ready"), "{}", place.good("why ew-a"));
}
