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

/// All that is bound there in a way that is refused here.
const MIXED: &str = concat!(
    r#"{"id":"bd-1","title":"Work","issue_type":"task","created_at":"2025-01-09T12:00:00Z","dependencies":[{"depends_on_id":"bd-2","type":"validates"},{"depends_on_id":"bd-2","type":"related"},{"depends_on_id":"Ann Lee","type":"authored-by"},{"depends_on_id":"!!","type":"approved-by"},{"depends_on_id":"bd-2","type":"assigned-to"},{"depends_on_id":"bd-5","type":"blocks"},{"depends_on_id":"bd-9","type":"blocks"}]}"#,
    "\n",
    r#"{"id":"bd-2","title":"More","dependencies":[{"depends_on_id":"bd-1","type":"related"},{"depends_on_id":"bd-1","type":"replies-to"},{"depends_on_id":"bd-3","type":"parent-child"},{"depends_on_id":"bd-4","type":"parent-child"},{"depends_on_id":"bd-3","type":"validates","metadata":"{\"testType\":\"unit\",\"result\":\"pass\"}"}]}"#,
    "\n",
    r#"{"id":"bd-3","title":"Plan","issue_type":"epic"}"#,
    "\n",
    r#"{"id":"bd-4","title":"Other plan","issue_type":"epic"}"#,
    "\n",
    r#"{"id":"bd-5","title":"Said","issue_type":"message","status":"closed","close_reason":"read"}"#,
    "\n",
    r#"{"id":"bd-6","title":"Answered","issue_type":"message","status":"in_progress","dependencies":[{"depends_on_id":"bd-5","type":"replies-to"}]}"#,
    "\n",
    r#"{"id":"bd-9","title":"Gone","status":"tombstone"}"#,
    "\n",
);

#[test]
fn what_is_bound_elsewhere_in_a_way_that_is_refused_here_is_kept_the_nearest_way_and_that_is_said() {
    let place = Place::new();
    place.write("issues.jsonl", MIXED);
    let told = place.json("import issues.jsonl");
    assert_eq!((&told["items"], &told["dependencies"]), (&6.into(), &9.into()), "{told}");
    let notes = told["notes"].to_string();
    for said in [
        "`validates` does not say how it ended: kept as `references`",
        "`authored-by` names \\\"Ann Lee\\\", who is Ann-Lee here",
        "`approved-by` names \\\"!!\\\", which is no name: left out",
        "`assigned-to` names no person",
        "`blocks` binds what is nothing to be done: kept as `references`",
        "`replies-to` binds what are not two messages",
        "`parent-child` is the second one of the same item",
        "a message is said once and has no status",
        "said twice of the same two",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    let bonds = |id: &str| {
        let all = place.json(&format!("dep list {id} --direction down"));
        let mut all: Vec<String> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|one| format!("{} {}", one["type"].as_str().unwrap(), one["targetId"].as_str().unwrap()))
            .collect();
        all.sort();
        all
    };
    assert_eq!(
        bonds("bd-1"),
        ["authored-by Ann-Lee", "references bd-2", "references bd-5", "relates-to bd-2"],
        "none of it blocks"
    );
    assert_eq!(
        bonds("bd-2"),
        ["parent-child bd-3", "references bd-1", "references bd-4", "relates-to bd-2", "validates bd-3"]
    );
    assert_eq!(bonds("bd-6"), ["replies-to bd-5"]);
    assert_eq!(place.json("show bd-5")["metadata"]["status"], "closed");
}

#[test]
fn approvals_that_were_given_elsewhere_count_here() {
    let place = Place::new();
    let lines = concat!(
        r#"{"id":"el-1","type":"task","title":"A","createdAt":"2025-01-09T12:00:00Z"}"#,
        "\n",
        r#"{"id":"el-2","type":"task","title":"B"}"#,
        "\n",
        r#"{"blockedId":"el-1","blockerId":"g","type":"awaits","metadata":{"gateType":"approval","requiredApprovers":["ann","bob"],"approvalCount":1,"currentApprovers":["bob"],"satisfied":true}}"#,
        "\n",
        r#"{"blockedId":"el-2","blockerId":"g","type":"awaits","metadata":{"gateType":"approval","requiredApprovers":["ann","bob"],"currentApprovers":["ann","eve"]}}"#,
        "\n",
        r#"{"blockedId":"el-2","blockerId":"t","type":"awaits","metadata":{"gateType":"timer","waitUntil":"2020-01-01T00:00:00Z","satisfied":true}}"#,
    );
    place.write("all.jsonl", lines);
    let told = place.json("import all.jsonl --form quarry");
    assert!(told["notes"].to_string().contains("approvals by eve are left out"), "{told}");
    assert_eq!((place.ids("ready"), place.ids("blocked")), (vec!["el-1".to_owned()], vec!["el-2".to_owned()]));
    let gate = place.ids("gate list")[0].clone();
    assert_eq!(place.json(&format!("gate show {gate}"))["currentApprovers"], serde_json::json!(["ann"]));
    place.check(&format!("gate approve {gate} --as bob"), &format!("approved gate {gate}; el-2 is ready now"));
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
    let gate =
        r#"{"blockedId":"ew-a","blockerId":"g","type":"awaits","metadata":{"gateType":"approval","approvalCount":0}}"#;
    let ours = r#"{"record":"item","id":"ew-a","title":"again"}"#;
    for (text, exit, code) in [
        (ring, 4, "cycle_detected"),
        (twice, 4, "duplicate_id"),
        (ours, 4, "id_taken"),
        (gate, 2, "bad_gate"),
        ("{\"issue_type\":1}", 2, "bad_import"),
    ] {
        let said = place.fed(&["import", "--json"], text);
        let told: serde_json::Value = serde_json::from_str(said.err.trim()).unwrap();
        assert_eq!((said.code, told["error"]["code"].as_str().unwrap_or_default()), (exit, code), "{said:?}");
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
