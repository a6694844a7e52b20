//! What an item is made to wait for although nobody knows it: said at once, wherever it is typed.

use crate::place::Place;
use serde_json::Value;

/// A folder with an item `ew-ship`, and one of another name that is called `Release notes`.
fn place() -> Place {
    let place = Place::with(&["ew-ship", "ew-b"]);
    place.good("add 'Release notes' --id ew-7k2");
    place
}

fn warned(said: &str, words: &[&str]) {
    assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
}

#[test]
fn a_slip_in_what_is_waited_for_is_said_with_what_was_probably_meant() {
    let place = place();
    for (line, target, meant) in [
        ("add y1 --id ew-y1 --needs shp", "shp", "did you mean ew-ship (ship)?"),
        ("add y2 --id ew-y2 --needs ew-shpi", "ew-shpi", "did you mean ew-ship (ship)?"),
        ("add y3 --id ew-y3 --needs release-notes", "release-notes", "did you mean ew-7k2 (Release notes)?"),
        ("dep add ew-b ew-shi0", "ew-shi0", "did you mean ew-ship (ship)?"),
        ("dep ew-b --needs ew-hsip", "ew-hsip", "did you mean ew-ship (ship)?"),
    ] {
        let said = place.run(line);
        assert_eq!(said.code, 0, "{line}: {said:?}");
        warned(&said.err, &[&format!("nobody here knows {target}"), meant, "edgewise dep remove ew-"]);
        assert_eq!(said.err.lines().count(), 1, "{line}: {said:?}");
    }
    let far = place.run("add y4 --needs https://tracker.example/17").err;
    assert!(far.contains("nobody here knows https://tracker.example/17") && !far.contains("did you mean"), "{far}");
    for fine in [
        "add y5 --needs ship",
        "add y6 --needs ew-7k2,@",
        "dep add ew-ship ew-7k2",
        "dep add ew-b shp --type references",
    ] {
        assert_eq!(place.run(fine).err, "", "{fine}");
    }
}

#[test]
fn programs_are_warned_too() {
    let place = place();
    let warnings = |told: &Value| told["warnings"].as_array().unwrap()[0].as_str().unwrap().to_owned();
    warned(&warnings(&place.json("add y1 --needs shp")), &["knows shp", "ew-ship"]);
    warned(&warnings(&place.json("dep add ew-b ew-shpi")), &["knows ew-shpi", "ew-ship"]);
    assert!(place.json("add y2 --needs ship").get("warnings").is_none());
    let lines =
        "{\"op\":\"add\",\"title\":\"n\",\"as\":\"n\"}\n{\"op\":\"add\",\"title\":\"m\",\"needs\":[\"$n\",\"shp\"]}\n";
    let batch: Value = serde_json::from_str(&place.fed(&["batch", "--json"], lines).good().out).unwrap();
    assert!(batch[0].get("warnings").is_none(), "{batch}");
    warned(&warnings(&batch[1]), &["knows shp", "ew-ship"]);
    // Of many the whole graph is read at once.
    let many: String = (0..20).map(|n| format!("{{\"op\":\"add\",\"title\":\"{n}\",\"needs\":[\"shp\"]}}\n")).collect();
    let batch: Value = serde_json::from_str(&place.fed(&["batch", "--json"], &many).good().out).unwrap();
    assert!(batch.as_array().unwrap().iter().all(|one| warnings(one).contains("ew-ship")), "{batch}");
    place.write("f.yaml", "flow: f\ntasks:\n  build: { run: make }\n");
    warned(&warnings(&place.json("add --template f.yaml --needs shp")[0]), &["knows shp", "ew-ship"]);
}

#[test]
fn what_can_be_no_id_is_refused_with_the_item_that_is_called_so() {
    let place = place();
    for line in ["add y --needs 'release note'", "dep add ew-b 'Release notes'"] {
        let refused = place.refused(line, 2, "bad_target");
        assert_eq!(refused["next"], "did you mean ew-7k2 (Release notes)?", "{line}");
    }
    assert_eq!(place.ids("list").len(), 3, "nothing was added");
}
