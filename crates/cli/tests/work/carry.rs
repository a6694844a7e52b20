//! Whole graphs: imported, exported, done in one go.

use crate::place::Place;

const BEADS: &str = concat!(
    r#"{"id":"bd-1","title":"Epic","status":"open","priority":0,"issue_type":"epic","created_at":"2025-01-09T12:00:00Z"}"#,
    "\n",
    r#"{"id":"bd-2","title":"First","status":"blocked","issue_type":"bug","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"parent-child"},{"issue_id":"bd-2","depends_on_id":"bd-3","type":"blocks"}]}"#,
    "\n",
    r#"{"id":"bd-3","title":"Second","status":"open","issue_type":"task"}"#,
    "\n",
    r#"{"id":"bd-4","title":"Done","status":"closed","issue_type":"chore","close_reason":"shipped"}"#,
    "\n",
);

#[test]
fn beads_come_in_whole_and_what_is_blocked_is_derived() {
    let place = Place::new();
    place.write("issues.jsonl", BEADS);
    assert!(place.run("import issues.jsonl --dry-run").good().err.contains("would bring in 4 items"));
    assert!(!place.path(".edgewise/ledger.db").exists());
    place.check("import issues.jsonl", "brought in 4 items, 2 dependencies and 0 gates (beads)");
    assert_eq!(place.ids("ready"), ["bd-3"]);
    assert_eq!(place.ids("blocked"), ["bd-2"]);
    assert_eq!(place.json("show bd-4")["closed"]["why"], "shipped");
    place.refused("import issues.jsonl", 4, "id_taken");
}

#[test]
fn an_import_with_a_cycle_or_a_duplicate_leaves_nothing_behind() {
    let place = Place::with(&["ew-a"]);
    let before = place.good("export");
    let ring = concat!(
        r#"{"id":"bd-1","title":"a","issue_type":"task","dependencies":[{"issue_id":"bd-1","depends_on_id":"bd-2","type":"blocks"}]}"#,
        "\n",
        r#"{"id":"bd-2","title":"b","issue_type":"task","dependencies":[{"issue_id":"bd-2","depends_on_id":"bd-1","type":"blocks"}]}"#,
    );
    let twice = "{\"id\":\"bd-1\",\"title\":\"a\",\"issue_type\":\"task\"}\n{\"id\":\"bd-1\",\"title\":\"b\"}";
    for (text, code) in [(ring, "cycle_detected"), (twice, "duplicate_id"), ("{\"issue_type\":1}", "bad_import")] {
        let said = place.fed(&["import", "--json"], text);
        assert!(said.code != 0 && said.err.contains(code), "{code}: {said:?}");
        assert_eq!(place.good("export"), before, "{code}");
    }
}

#[test]
fn an_export_is_always_the_same_and_imports_to_the_same_graph() {
    let place = Place::new();
    let lines = [
        r#"{"op":"add","id":"ew-p","title":"Plan","kind":"plan","phase":"active","autoComplete":true}"#,
        r#"{"op":"add","id":"ew-a","title":"A","parent":"ew-p","tags":["x","y"],"deadline":"2027-01-31T12:00:00Z","description":"two\nlines","metadata":{"deadline":"theirs"}}"#,
        r#"{"op":"add","id":"ew-b","title":"B","parent":"ew-p","needs":["ew-a","https://example.org/7"],"priority":1}"#,
        r#"{"op":"add","id":"ew-c","title":"C","type":"bug"}"#,
        r#"{"op":"depend","id":"ew-c","on":"ew-b","type":"validates","metadata":{"testType":"unit","result":"pass"}}"#,
        r#"{"op":"depend","id":"ew-c","on":"ew-a","type":"relates-to"}"#,
        r#"{"op":"depend","id":"ew-c","type":"awaits","gate":{"gateType":"approval","requiredApprovers":["ann"]}}"#,
        r#"{"op":"depend","id":"ew-a","on":"ew-c","type":"blocks","when":"any"}"#,
        r#"{"op":"make_gate","id":"ew-g","gateType":"approval","requiredApprovers":["ann","bob"]}"#,
        r#"{"op":"depend","id":"ew-c","on":"ew-g","type":"awaits"}"#,
        r#"{"op":"close","id":"ew-c","how":"failed","force":true,"why":"broken"}"#,
        r#"{"op":"add","id":"ew-gone","title":"Gone"}"#,
        r#"{"op":"delete","id":"ew-gone"}"#,
        r#"{"op":"update","id":"ew-b","change":{"status":"deferred"}}"#,
        r#"{"op":"add","id":"ew-q","title":"Again","kind":"plan","autoComplete":true}"#,
        r#"{"op":"add","id":"ew-r","title":"Its child","parent":"ew-q"}"#,
        r#"{"op":"close","id":"ew-r"}"#,
        r#"{"op":"reopen","id":"ew-q"}"#,
    ];
    place.fed(&["batch"], &lines.join("\n")).good();
    place.good("gate approve ew-g --as ann");
    place.good("add Taken --id ew-t");
    place.good("claim ew-t --as ann --lease 2d");
    let first = place.good("export");
    assert_eq!(place.good("export"), first);
    assert!(first.contains("\"approvals\":[{\"at\":\"20") && !first.contains("token"), "{first}");
    let other = Place::new();
    other.write("work.jsonl", &first);
    other.good("import work.jsonl");
    assert_eq!(other.good("export"), first);
    assert_eq!(other.ids("ready"), place.ids("ready"));
    other.refused("claim ew-t --as bob", 4, "item_claimed");
    other.refused("gate approve ew-g --as ann", 4, "already_approved");
    other.check("close ew-t --as ann", "closed ew-t");
    assert_eq!(other.json("blocked")[0]["blockedBy"], place.json("blocked")[0]["blockedBy"]);
}

#[test]
fn a_batch_under_a_key_is_done_once_and_says_so() {
    let place = Place::new();
    let text = "{\"op\":\"add\",\"title\":\"Build\"}";
    assert!(place.fed(&["batch", "--key", "k"], text).good().out.starts_with("added ew-"));
    assert_eq!(place.fed(&["batch", "--key", "k"], text).good().out.trim_end(), "was done before, under the same key");
    assert_eq!(place.ids("list").len(), 1);
}

#[test]
fn a_batch_is_one_commit_with_names_for_what_it_makes() {
    let place = Place::new();
    let lines = "{\"op\":\"add\",\"title\":\"Build\",\"as\":\"build\"}\n{\"op\":\"add\",\"title\":\"Ship\",\"needs\":[\"$build\"],\"priority\":1}\n";
    let said = place.fed(&["batch"], lines).good();
    assert_eq!(said.out.lines().count(), 2, "{said:?}");
    assert_eq!(place.json("ready")[0]["title"], "Build");
    let again = |_| place.fed(&["batch", "--key", "k1", "-q"], "{\"op\":\"add\",\"title\":\"Once\"}").good().out;
    let (_, _) = (again(1), again(2));
    assert_eq!(place.ids("list Once").len(), 1, "the same key is done once");
}
