//! Items: made, changed, claimed, closed, deleted; what waits for what.

use crate::place::Place;
use serde_json::json;

#[test]
fn what_is_added_is_confirmed_and_shown_and_is_the_last_one() {
    let place = Place::new();
    let id = place.ids("add 'Mend the login' --type bug -p 1 --tag web --assignee ann -d 'It fails'")[0].clone();
    assert!(id.starts_with("ew-"), "{id}");
    let shown = place.json("show @");
    for (key, value) in [
        ("id", json!(id)),
        ("title", json!("Mend the login")),
        ("type", json!("bug")),
        ("priority", json!(1)),
        ("effectivePriority", json!(1)),
        ("status", json!("open")),
        ("standing", json!("ready")),
        ("assignee", json!("ann")),
        ("tags", json!(["web"])),
        ("description", json!("It fails")),
        ("createdBy", json!("ada")),
    ] {
        assert_eq!(shown[key], value, "{key}: {shown}");
    }
    // Without the prefix, and by a beginning.
    assert_eq!(place.json(&format!("show {}", &id[3..]))["id"], json!(id));
    assert!(place.good("add 'Another' --needs @").ends_with(": Another"));
}

#[test]
fn who_waits_is_said_from_both_ends() {
    let place = Place::with(&["ew-a", "ew-b", "ew-c"]);
    place.check("dep add ew-b ew-a", "ew-b now waits for ew-a (blocks); ew-b is blocked now");
    place.check("dep ew-c --needs ew-b", "ew-c now waits for ew-b (blocks); ew-c is blocked now");
    place.check("dep ew-a --blocks ew-c", "ew-c now waits for ew-a (blocks)");
    place.check("dep ew-a --blocks ew-c", "ew-c waits for ew-a already (blocks)");
    assert_eq!(place.ids("ready"), ["ew-a"]);
    assert_eq!(place.ids("blocked"), ["ew-b", "ew-c"]);
    let blocked = place.json("blocked");
    assert_eq!(blocked[1]["blockedBy"].as_array().unwrap().len(), 2, "every blocker: {blocked}");
    place.check("close ew-a --reason 'it works'", "closed ew-a; ew-b is ready now");
    assert_eq!(place.ids("ready"), ["ew-b"]);
    place.check("reopen ew-a", "ew-a is open again; ew-b is blocked now");
    place.check("dep remove ew-b ew-a --type blocks", "ew-b no longer waits for ew-a (blocks); ew-b is ready now");
    place.check("dep cycles", "");
}

#[test]
fn a_failed_prerequisite_is_a_visible_reason_and_when_says_what_counts() {
    let place = Place::with(&["ew-a", "ew-b", "ew-c", "ew-d"]);
    place.good("dep add ew-b ew-a");
    place.good("dep add ew-c ew-a --when failure");
    place.good("dep add ew-d ew-a --when any");
    place.good("close ew-a --failed --reason 'no such library'");
    assert_eq!(place.ids("ready"), ["ew-c", "ew-d"]);
    let shown = place.json("show ew-b");
    assert_eq!((&shown["status"], &shown["baseStatus"]), (&json!("blocked"), &json!("open")));
    assert_eq!(shown["blockedBy"][0]["reason"], "unsatisfiable");
    let why = place.good("why ew-b");
    assert!(why.contains("ew-a") && why.contains("->"), "{why}");
}

#[test]
fn an_item_is_changed_moved_deleted_and_its_history_tells() {
    let place = Place::with(&["ew-a", "ew-b", "ew-p"]);
    place.check("update ew-a --priority 2 --status review --tag web --assignee bob", "changed ew-a");
    place.check("update ew-a --parent ew-p", "ew-a is a part of ew-p now");
    place.good("dep add ew-b ew-a");
    assert_eq!(place.json("show ew-a")["parent"], "ew-p");
    place.check("update ew-a --no-parent --unassign", "changed ew-a\new-a is a part of nothing now");
    assert!(place.json("show ew-a").get("assignee").is_none());
    place.check("delete ew-a --reason 'by mistake'", "deleted ew-a, and 1 dependency with it; ew-b is ready now");
    assert_eq!(place.ids("list"), ["ew-b", "ew-p"]);
    let history = place.good("history ew-a");
    for said in [
        "made",
        "changed assignee, priority, status, tag",
        "a part of ew-p now",
        "is waited for by ew-b",
        "deleted: by mistake",
    ] {
        assert!(history.contains(said), "{said}: {history}");
    }
    let told: Vec<_> = place.json("history ew-b").as_array().unwrap().iter().map(|note| note["what"].clone()).collect();
    let expected = ["created", "dependency_added", "auto_blocked", "dependency_removed", "auto_unblocked"];
    assert_eq!(told, expected.map(|word| json!(word)));
}

#[test]
fn a_claim_is_exclusive_proved_by_its_token_and_can_be_given_back() {
    let place = Place::with(&["ew-a", "ew-b"]);
    let claimed = place.json("claim ew-a --as ann");
    let token = claimed["token"].as_str().unwrap().to_owned();
    let kept = place.json("show ew-a")["claim"].clone();
    assert_eq!((&kept["by"], kept.get("token")), (&json!("ann"), None), "what is kept of a token is nobody's business");
    place.refused("claim ew-a --as bob", 4, "item_claimed");
    place.refused("close ew-a --as bob", 4, "item_claimed");
    assert_eq!(place.ids("ready --as bob"), ["ew-b"]);
    place.good(&format!("claim ew-a --as ann --token {token} --lease 2h"));
    place.check("release ew-a --as ann", "ew-a is free again");
    place.refused(&format!("close ew-a --token {token}"), 4, "stale_token");
    let next = place.json("ready --claim --as bob");
    assert_eq!(next["id"], "ew-a");
    let told = place.json("close ew-a --as bob --claim-next");
    assert_eq!((&told[0]["id"], &told[1]["id"]), (&json!("ew-a"), &json!("ew-b")));
    assert!(told[1]["token"].is_string());
    assert_eq!(place.run("ready --claim --as cyd").code, 3, "nothing is left");
}

#[test]
fn whoever_has_an_item_takes_the_next_one() {
    let place = Place::with(&["ew-a", "ew-b"]);
    assert_eq!(place.json("ready --claim --as ann")["id"], "ew-a");
    assert_eq!(place.json("ready --claim --as ann")["id"], "ew-b");
    assert_eq!(place.run("ready --claim --as ann").code, 3);
    assert_eq!(place.ids("ready --as ann"), ["ew-a", "ew-b"], "what one has is ready for oneself");
}

#[test]
fn what_relates_to_an_item_is_seen_from_both_ends() {
    let place = Place::with(&["ew-a", "ew-b"]);
    place.check("dep add ew-b ew-a --type relates-to", "ew-a now relates to ew-b (relates-to)");
    for (one, other) in [("ew-a", "ew-b"), ("ew-b", "ew-a")] {
        let shown = place.good(&format!("show {one}"));
        assert!(shown.lines().any(|line| line.contains("relates to") && line.contains(other)), "{shown}");
        for direction in ["down", "up", "both"] {
            assert_eq!(place.ids(&format!("dep list {one} --direction {direction}")), ["ew-a ew-b relates-to"]);
        }
    }
    place.check("dep add ew-b ew-a --type caused-by", "ew-b was caused by ew-a (caused-by)");
}

#[test]
fn a_plan_is_no_task_that_could_be_begun() {
    let place = Place::with(&["ew-a"]);
    place.good("add Release --kind plan --id ew-p");
    place.good("update ew-a --parent ew-p");
    assert_eq!(place.ids("ready"), ["ew-a"]);
    assert!(place.good("show ew-p").contains("ew-p  Release  active"));
    assert_eq!(place.json("stats")["ready"], 1, "as many as are listed");
    assert!(place.good("why ew-p").contains("it is done when its open child is"));
}

#[test]
fn ready_is_filtered_sorted_and_explained() {
    let place = Place::new();
    let lines = [
        r#"{"op":"add","id":"ew-low","title":"low","priority":5,"type":"bug","tags":["web","later"]}"#,
        r#"{"op":"add","id":"ew-mid","title":"mid","assignee":"ann","deadline":"2027-01-31T12:00:00Z"}"#,
        r#"{"op":"add","id":"ew-top","title":"top","priority":1,"needs":["ew-low"]}"#,
        r#"{"op":"add","id":"ew-far","title":"far","priority":1,"scheduledFor":"2199-01-01T00:00:00Z"}"#,
    ];
    place.fed(&["batch"], &lines.join("\n")).good();
    assert_eq!(place.ids("ready"), ["ew-low", "ew-mid"], "what the most urgent waits for comes first");
    for (line, ids) in [
        ("ready --sort priority", vec!["ew-mid", "ew-low"]),
        ("ready --sort deadline", vec!["ew-mid", "ew-low"]),
        ("ready --sort unblocks", vec!["ew-low", "ew-mid"]),
        ("ready --limit 1", vec!["ew-low"]),
        ("ready --type bug", vec!["ew-low"]),
        ("ready --priority 3,4", vec!["ew-mid"]),
        ("ready --assignee ann", vec!["ew-mid"]),
        ("ready --unassigned", vec!["ew-low"]),
        ("ready --tag web", vec!["ew-low"]),
        ("ready --no-tag later", vec!["ew-mid"]),
        ("ready --any-tag later,x", vec!["ew-low"]),
        ("ready --due-before 2028-01-01", vec!["ew-mid"]),
    ] {
        assert_eq!(place.ids(line), ids, "{line}");
    }
    let told = place.good("ready --explain");
    for said in [
        "priority 5, counts as 1 because of ew-top",
        "not ready: 1 blocked, 1 scheduled",
        "waits for ew-low",
        "not before 2199",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
}

#[test]
fn parents_hold_children_and_close_after_them() {
    let place = Place::new();
    place.good("add 'Release' --kind plan --id ew-p --auto-complete");
    place.good("add 'Build' --id ew-b --parent ew-p");
    place.good("add 'Ship' --id ew-s --parent ew-p --needs ew-b");
    let error = place.refused("close ew-p", 4, "open_children");
    assert!(error["message"].as_str().unwrap().contains("ew-b, ew-s"), "{error}");
    assert_eq!(place.ids("list --plan ew-p"), ["ew-b", "ew-s"]);
    place.check("close ew-b ew-s", "closed ew-b; ew-s is ready now\nclosed ew-s");
    assert_eq!(place.json("show ew-p")["status"], "closed", "it closes by itself");
}

#[test]
fn a_draft_waits_for_its_author_and_messages_are_threaded() {
    let place = Place::new();
    place.good("add 'Plan' --draft --id ew-p");
    place.good("add 'Step' --id ew-s --parent ew-p");
    assert_eq!(place.ids("ready"), [""; 0]);
    place.good("update ew-p --phase active");
    assert_eq!(place.ids("ready"), ["ew-s"]);
    place.good("add 'Hello' --kind message --id ew-m1");
    place.good("add 'Hello yourself' --kind message --id ew-m2 --replies-to ew-m1");
    place.refused("update ew-m1 --title x", 4, "message_immutable");
    let thread = place.good("show ew-m2");
    assert!(thread.contains("ew-m1  Hello\n") && thread.ends_with("ew-m2  Hello yourself"), "{thread}");
    assert_eq!(place.json("show ew-m1")["thread"], json!(["ew-m1", "ew-m2"]));
}

#[test]
fn a_flow_is_a_template_for_items() {
    let place = Place::new();
    let flow = "flow: release\ntasks:\n  build: { run: make }\n  test: { after: build, run: make test }\n  \
                heal: { after: { test: failed }, run: make heal }\n  ship: { after: test, run: make ship }\n";
    place.write("release.yaml", flow);
    let said = place.good("add --template release.yaml");
    assert!(said.ends_with(": 4 items from release.yaml"), "{said}");
    let items = place.json("list --plan @");
    assert_eq!(items.as_array().unwrap().len(), 4);
    assert_eq!(place.json("ready")[0]["title"], "build");
    let heal = items.as_array().unwrap().iter().find(|item| item["title"] == "heal").unwrap();
    let bonds = place.json(&format!("dep list {} --direction down --type blocks", heal["id"].as_str().unwrap()));
    assert_eq!(bonds[0]["when"], "failure");
    let ids = place.ids("add --template release.yaml --ephemeral 7d");
    assert_eq!(place.ids("ready").len(), 1, "what is ephemeral is ready only for who asks");
    assert_eq!(place.ids(&format!("ready --ephemeral --plan {}", ids[0])).len(), 1);
    let hint = place.run("add --template release.yaml --ephemeral 7d").err;
    assert!(hint.contains(" --ephemeral` what can begin"), "{hint}");
    let refused = place.refused("add --template nope.yaml", 3, "file_error");
    assert!(refused["message"].as_str().unwrap().contains("nope.yaml"));
}

#[test]
fn gates_of_a_template_are_gates_and_its_items_are_as_the_flow_says() {
    let place = Place::new();
    let flow = "flow: release\ntasks:\n  build: { run: make }\n  agree: { after: build, gate: { approval: { from: [ann, bob], count: 1 } } }\n  \
                rest: { after: agree, gate: { timer: 5m } }\n  \
                look: { after: [agree, rest], item: { title: Look at it, description: All of it, acceptance: It is good, priority: 1, assignee: eve, tags: [x, y] } }\n  \
                last: { after: look, gate: { webhook: {} } }\n";
    place.write("release.yaml", flow);
    let said = place.good("add --template release.yaml");
    assert!(said.ends_with(": 4 items and 1 gate from release.yaml"), "{said}");
    let items = place.json("list --plan @");
    let item = |title: &str| items.as_array().unwrap().iter().find(|item| item["title"] == title).unwrap().clone();
    let look = item("Look at it");
    let said = ["description", "acceptance", "priority", "assignee", "tags"].map(|key| look[key].clone());
    assert_eq!(json!(said), json!(["All of it", "It is good", 1, "eve", ["x", "y"]]));
    let gate = place.ids("gate list")[0].clone();
    assert_eq!(place.json(&format!("gate show {gate}"))["requiredApprovers"], json!(["ann", "bob"]));
    let bonds = |title: &str| {
        let listed = place.json(&format!("dep list {} --direction down", item(title)["id"].as_str().unwrap()));
        let mut bonds: Vec<(String, String)> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["type"] != "parent-child")
            .map(|one| (one["type"].as_str().unwrap().to_owned(), one["targetId"].as_str().unwrap().to_owned()))
            .collect();
        bonds.sort();
        bonds
    };
    let id = |title: &str| item(title)["id"].as_str().unwrap().to_owned();
    // Whatever follows a gate awaits it, and waits for what the gate came after.
    assert_eq!(bonds("rest"), [("awaits".to_owned(), gate.clone()), ("blocks".to_owned(), id("build"))]);
    let mut expected =
        [("awaits".to_owned(), gate.clone()), ("blocks".to_owned(), id("build")), ("blocks".to_owned(), id("rest"))];
    expected.sort();
    assert_eq!(bonds("Look at it"), expected);
    assert_eq!(bonds("last"), [("blocks".to_owned(), id("Look at it"))], "nothing follows it, so it is an item");
    place.good(&format!("close {}", id("build")));
    place
        .check(&format!("gate approve {gate} --as bob"), &format!("approved gate {gate}; {} is ready now", id("rest")));
}

#[test]
fn an_instance_is_pending_until_something_in_it_is_begun() {
    let place = Place::new();
    let instance = |line: &str| place.ids(line)[0].clone();
    let one = instance("add One --kind instance");
    let two = instance(concat!("add Two --kind work", "flow --ephemeral 7d"));
    let (a, b) = (instance(&format!("add A --parent {one}")), instance(&format!("add B --parent {two}")));
    let phase = |id: &str| place.json(&format!("show {id}"))["phase"].as_str().unwrap().to_owned();
    assert_eq!((phase(&one).as_str(), phase(&two).as_str()), ("pending", "pending"));
    assert!(!place.ids("ready").contains(&b), "what is ephemeral is ready only for who asks");
    assert!(place.ids("ready --ephemeral").contains(&b));
    place.good(&format!("claim {a}"));
    place.good(&format!("update {b} --status in-progress"));
    assert_eq!((phase(&one).as_str(), phase(&two).as_str()), ("running", "running"));
    place.write("f.yaml", "flow: f\ntasks:\n  build: { run: make }\n");
    assert_eq!(phase(&instance("add --template f.yaml")), "pending");
    place.refused("add Three --ephemeral 7d", 2, "not_an_instance");
}

#[test]
fn an_item_waits_for_a_run_and_is_ready_when_it_succeeds() {
    let place = Place::with(&["ew-a"]);
    place.write("ask.yaml", "flow: ask\ntasks:\n  go: { gate: { approval: { from: [ann] } } }\n");
    let run = place.run("run ask.yaml -q --detach").out.trim().to_owned();
    place.good(&format!("dep add ew-a {run} --type awaits"));
    assert_eq!(place.ids("blocked"), ["ew-a"]);
    let why = place.good("why ew-a");
    let leaf = format!("{}/go  gate, waits for ann", &run[..8]);
    let command = format!("ann can move it on: edgewise gate approve {} go --as ann", &run[..8]);
    assert!(why.contains(&leaf) && why.contains(&command), "{why}");
    place.good(&format!("gate approve {run} go --as ann"));
    place.good(&format!("watch {run} -q"));
    assert_eq!(place.ids("ready"), ["ew-a"]);
}
