//! Bad input: a clear refusal with a stable code and exit status, and nothing half-written.

use crate::place::Place;

#[test]
fn every_bad_input_has_its_code_and_changes_nothing() {
    let place = Place::with(&["ew-a", "ew-b", "ew-c", "ew-p"]);
    place.good("dep add ew-b ew-a");
    place.good("dep add ew-c ew-b");
    place.good("update ew-c --parent ew-p");
    let gate = place.ids("gate create --approver ann --for ew-p")[0].clone();
    let before = place.good("export");
    for (line, exit, code) in [
        ("dep add ew-a ew-a", 4, "cycle_detected"),
        ("dep add ew-a ew-c", 4, "cycle_detected"),
        ("dep add ew-a ew-b", 4, "cycle_detected"),
        ("update ew-p --parent ew-c", 4, "cycle_detected"),
        ("dep add nope ew-a", 3, "item_not_found"),
        ("dep add ew-a ew-b --type blox", 2, "unknown_dependency_type"),
        ("dep remove ew-a ew-b --type blox", 2, "unknown_dependency_type"),
        ("dep list ew-a --type blox", 2, "unknown_dependency_type"),
        ("dep add ew-a ew-b --type relates-to --when any", 2, "bad_when"),
        ("dep add ew-a ew-b --type awaits --metadata gateType=timer", 2, "bad_gate"),
        ("gate create --approver ann --count 2 --for ew-a", 2, "bad_gate"),
        ("gate create --approver ann,ann --for ew-a", 2, "bad_gate"),
        ("gate create --external ci '' --for ew-a", 2, "bad_gate"),
        ("add x --ephemeral 7d", 2, "not_an_instance"),
        ("dep add ew-a 'two words'", 2, "bad_target"),
        ("close ew-b", 4, "item_blocked"),
        ("close ew-p", 4, "item_blocked"),
        ("claim ew-b", 4, "item_blocked"),
        ("close nope", 3, "item_not_found"),
        ("show ew-", 4, "ambiguous_id"),
        ("show ew", 4, "ambiguous_id"),
        ("why ew-nope", 3, "item_not_found"),
        ("history ew-nope", 3, "item_not_found"),
        ("reopen ew-a", 4, "not_closed"),
        ("update ew-a", 2, "nothing_to_change"),
        ("update ew-a --status closed", 2, "bad_status"),
        ("add x --id ew-a", 4, "id_taken"),
        ("add x --parent nope", 3, "item_not_found"),
        ("add ''", 2, "bad_title"),
        ("gate satisfy ew-a", 3, "gate_not_found"),
        ("show ew-a --at 7", 2, "item_has_no_past"),
        ("show ew-a build", 2, "item_has_no_tasks"),
        ("dep remove ew-a ew-c", 3, "dependency_not_found"),
        ("dep remove ew-b ew-a --type awaits", 3, "dependency_not_found"),
        ("batch", 2, "empty_batch"),
        ("import", 2, "empty_import"),
    ] {
        place.refused(line, exit, code);
        assert_eq!(place.good("export"), before, "{line}");
    }
    // Nothing is opened again within something that is closed, unless it is forced.
    let closed = Place::with(&["ew-in", "ew-out"]);
    closed.good("update ew-in --parent ew-out");
    closed.good("close ew-in ew-out");
    closed.refused("reopen ew-in", 4, "parent_closed");
    closed.good("reopen ew-in --force");
    closed.good("close ew-in");
    closed.good("reopen ew-out ew-in");
    place.refused(&format!("gate approve {gate} --as bob"), 5, "not_an_approver");
    place.refused(&format!("gate satisfy {gate}"), 5, "wrong_gate");
    place.refused(&format!("gate withdraw {gate} --as ann"), 4, "not_approved");
    assert_eq!(place.good("export"), before);
}

#[test]
fn what_the_parser_refuses_says_what_is_expected() {
    let place = Place::new();
    for (line, said) in [
        ("dep add ew-a ew-b --type blox", "parent-child"),
        ("dep tree ew-a --depth 101", "0..=100"),
        ("add x --priority 9", "a number from 1, the most urgent, to 5"),
        ("add x --priority high", "a number from 1, the most urgent, to 5"),
        ("update x -p 0", "a number from 1, the most urgent, to 5"),
        ("ready --priority 1,urgent", "a number from 1, the most urgent, to 5"),
        ("add x --type story", "bug, feature, task, chore"),
        ("add x --deadline soon", "is no instant"),
        ("add", "<TITLE>"),
        ("gate create", "--until"),
        ("gate create --until 2027-01-01 --webhook", "cannot be used with"),
        ("close ew-a --token x", "is not a token"),
        ("ready --sort size", "effective"),
    ] {
        let refused = place.run(line);
        assert_eq!(refused.code, 2, "{line}: {refused:?}");
        assert!(refused.err.contains(said), "{line}: {}", refused.err);
    }
    assert!(!place.path(".edgewise").exists(), "nothing is made by asking");
}

#[test]
fn a_cycle_is_told_with_its_path_and_nothing_destructive_is_suggested() {
    let place = Place::with(&["ew-a", "ew-b", "ew-c"]);
    place.good("dep add ew-b ew-a");
    place.good("dep add ew-c ew-b");
    let message = place.refused("dep add ew-a ew-c", 4, "cycle_detected")["message"].as_str().unwrap().to_owned();
    for id in ["ew-a", "ew-b", "ew-c"] {
        assert!(message.contains(id), "{message}");
    }
    let own = place.refused("dep add ew-a ew-a", 4, "cycle_detected")["message"].as_str().unwrap().to_owned();
    assert!(own.contains("Cannot create self-referential dependency"), "{own}");
    for text in [message, own] {
        assert!(!text.contains("delete") && !text.contains("--force"), "{text}");
    }
}

#[test]
fn one_bad_operation_refuses_the_whole_batch() {
    let place = Place::with(&["ew-a"]);
    let before = place.good("export");
    let lines = "{\"op\":\"add\",\"title\":\"new\",\"as\":\"n\"}\n{\"op\":\"depend\",\"id\":\"$n\",\"on\":\"ew-a\",\"type\":\"blocks\"}\n\
                 {\"op\":\"depend\",\"id\":\"ew-a\",\"on\":\"$n\",\"type\":\"blocks\"}\n";
    let said = place.fed(&["batch", "--json"], lines);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("cycle_detected") && said.err.contains("operation 3 of 3"), "{said:?}");
    assert_eq!(place.good("export"), before);
}
