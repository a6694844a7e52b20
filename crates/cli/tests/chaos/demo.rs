//! The demo kills its own engine, tells the truth about it, and leaves nothing behind.

use crate::place::{Place, output_of};
use serde_json::Value;

#[test]
fn the_demo_survives_its_own_kills_and_takes_its_folder_away() {
    let place = Place::new();
    let temp = place.path().join("temp");
    std::fs::create_dir(&temp).unwrap();
    let mut demo = place.edgewise(&["demo", "--chaos", "--seconds", "3", "--json"]);
    let (report, _, code) = output_of(demo.env("TMPDIR", &temp).stdout(std::process::Stdio::piped()));
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(code, 0, "{report}");
    assert!(report["killed"].as_u64().unwrap() >= 2, "{report}");
    // Eight parts, four tests, two spreads, the gate, and five tasks around them.
    assert_eq!(report["tasks"], 20, "{report}");
    assert_eq!((&report["lost"], &report["twice"]), (&Value::Array(vec![]), &Value::Array(vec![])));
    assert_eq!(report["clean"], true);
    assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0, "its folder is gone");
}
