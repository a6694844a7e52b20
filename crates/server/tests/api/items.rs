//! Items of the work graph over the API.

use crate::stage::{Answer, Stage};
use serde_json::{Value, json};

pub async fn add(stage: &Stage, body: Value) -> String {
    let answer = stage.post("/api/v1/items", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn etag(answer: &Answer) -> String {
    let line = answer.head.lines().find(|line| line.to_lowercase().starts_with("etag:"));
    line.unwrap_or_else(|| panic!("{}", answer.head)).split_once(':').unwrap().1.trim().to_owned()
}

#[tokio::test]
async fn an_item_is_made_shown_changed_claimed_closed_and_opened_again() {
    let stage = Stage::open().await;
    let item =
        add(&stage, json!({ "title": "Mend the login", "deadline": "2027-01-31T12:00:00Z", "tags": ["web"] })).await;
    let path = format!("/api/v1/items/{item}");
    let shown = stage.get(&path).await.json();
    assert_eq!(
        (&shown["title"], &shown["status"], &shown["ready"]),
        (&json!("Mend the login"), &json!("open"), &json!(true))
    );
    assert_eq!(shown["deadline"], "2027-01-31T12:00:00.000Z");
    let changed = stage.ask("PATCH", &path, &[], &json!({ "priority": 1, "deadline": null }).to_string()).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let shown = stage.get(&path).await.json();
    assert_eq!((&shown["priority"], shown.get("deadline")), (&json!(1), None));
    let claimed = stage.post(&format!("{path}/claim"), &json!({ "lease": "10m" })).await.json();
    let token = claimed["token"].as_str().unwrap();
    assert!(claimed["until"].as_str().unwrap().ends_with('Z'), "{claimed}");
    let longer = stage.post(&format!("{path}/extend"), &json!({ "token": token })).await;
    assert_eq!(longer.status, 200, "{}", longer.text);
    let closed = stage.post(&format!("{path}/close"), &json!({ "token": token, "why": "done" })).await;
    assert_eq!(closed.status, 200, "{}", closed.text);
    assert_eq!(stage.get(&path).await.json()["status"], "closed");
    assert_eq!(stage.post(&format!("{path}/reopen"), &json!({})).await.status, 200);
    assert_eq!(stage.post(&format!("{path}/delete"), &json!({ "why": "not wanted" })).await.status, 200);
    let history = stage.get(&format!("{path}/history")).await.json();
    let what: Vec<&str> =
        history["history"].as_array().unwrap().iter().map(|note| note["what"].as_str().unwrap()).collect();
    assert!(what.starts_with(&["created", "changed", "claimed"]) && what.ends_with(&["deleted"]), "{what:?}");
}

#[tokio::test]
async fn a_change_of_what_was_not_seen_is_refused_and_changes_nothing() {
    let stage = Stage::open().await;
    let item = add(&stage, json!({ "title": "A" })).await;
    let path = format!("/api/v1/items/{item}");
    let seen = etag(&stage.get(&path).await);
    let same = stage.ask("GET", &path, &[("If-None-Match", &seen)], "").await;
    assert_eq!((same.status, same.text.as_str()), (304, ""));
    let change = |title: &str| json!({ "title": title }).to_string();
    assert_eq!(stage.ask("PATCH", &path, &[("If-Match", &seen)], &change("B")).await.status, 200);
    let stale = stage.ask("PATCH", &path, &[("If-Match", &seen)], &change("C")).await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "version_mismatch"));
    let closed = stage.ask("POST", &format!("{path}/close"), &[("If-Match", &seen)], "{}").await;
    assert_eq!(closed.status, 412);
    let now = stage.ask("GET", &path, &[("If-None-Match", &seen)], "").await;
    assert_eq!((now.status, &now.json()["title"]), (200, &json!("B")));
    for (version, status) in [("*".to_owned(), 200), (format!("\"x\", {}", etag(&now)), 412), ("x".to_owned(), 400)] {
        let answer = stage.ask("PATCH", &path, &[("If-Match", &version)], &change("D")).await;
        assert_eq!(answer.status, status, "{version}: {}", answer.text);
    }
}

#[tokio::test]
async fn of_many_who_change_what_they_saw_one_succeeds() {
    let stage = Stage::open().await;
    let item = add(&stage, json!({ "title": "A" })).await;
    let path = format!("/api/v1/items/{item}");
    let seen = etag(&stage.get(&path).await);
    let (stage, path, seen) = (&stage, &path, &seen);
    let race = |n: u32| async move {
        stage.ask("PATCH", path, &[("If-Match", seen)], &json!({ "title": format!("B{n}") }).to_string()).await.status
    };
    let (a, b, c, d) = tokio::join!(race(1), race(2), race(3), race(4));
    let mut statuses = [a, b, c, d];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412, 412, 412]);
}

#[tokio::test]
async fn what_waits_is_blocked_until_what_it_waits_for_is_done_and_cycles_are_refused() {
    let stage = Stage::open().await;
    let a = add(&stage, json!({ "title": "alpha" })).await;
    let b = add(&stage, json!({ "title": "bravo", "needs": [a] })).await;
    let ids = |page: &Value| -> Vec<String> {
        page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&stage.get("/api/v1/items/ready").await.json()), std::slice::from_ref(&a));
    assert_eq!(ids(&stage.get("/api/v1/items/blocked").await.json()), std::slice::from_ref(&b));
    let why = stage.get(&format!("/api/v1/items/{b}/why")).await.text;
    assert!(why.contains(&a), "{why}");
    let tree = stage.get(&format!("/api/v1/items/{b}/tree")).await.json();
    assert_eq!(tree["dependencies"]["branches"][0]["id"], json!(a));
    let cycle = stage.post(&format!("/api/v1/items/{a}/depend"), &json!({ "on": b })).await;
    assert_eq!((cycle.status, cycle.code().as_str()), (409, "cycle_detected"), "{}", cycle.text);
    assert_eq!(stage.get("/api/v1/items/cycles").await.json()["cycles"], json!([]));
    let removed = stage.post(&format!("/api/v1/items/{b}/undepend"), &json!({ "on": a })).await.json();
    assert_eq!((&removed["removed"], &removed["unblocked"]), (&json!(1), &json!([b])));
    assert_eq!(stage.get("/api/v1/items/stats").await.json()["ready"], 2);
    let primed = stage.get("/api/v1/prime").await.json();
    assert_eq!((&primed["who"], &primed["ready"]), (&json!("local"), &json!(2)));
    let next = stage.post("/api/v1/items/claim-next", &json!({ "filter": { "text": "bravo" } })).await.json();
    assert_eq!(next["id"], json!(b));
    let none = stage.post("/api/v1/items/claim-next", &json!({ "filter": { "text": "zulu" } })).await;
    assert_eq!((none.status, none.json().get("id")), (200, None));
}

#[tokio::test]
async fn a_tree_goes_as_deep_and_as_far_as_it_is_asked_to() {
    let stage = Stage::open().await;
    let a = add(&stage, json!({ "title": "a" })).await;
    let b = add(&stage, json!({ "title": "b", "needs": [a] })).await;
    let c = add(&stage, json!({ "title": "c", "needs": [b] })).await;
    let tree = |asked: &'static str, of: String| {
        let stage = &stage;
        async move { stage.get(&format!("/api/v1/items/{of}/tree{asked}")).await }
    };
    let whole = tree("", c.clone()).await.json();
    assert_eq!(whole["dependencies"]["branches"][0]["branches"][0]["id"], json!(a));
    let one = tree("?depth=1&direction=down", c).await.json();
    let first = &one["dependencies"]["branches"][0];
    assert_eq!((&first["id"], &first["cut"], one.get("dependents")), (&json!(b), &json!(true), None), "{one}");
    let up = tree("?direction=up", a.clone()).await.json();
    assert_eq!((&up["dependents"]["branches"][0]["id"], up.get("dependencies")), (&json!(b), None), "{up}");
    for bad in ["?direction=sideways", "?depth=deep", "?deep=1"] {
        assert_eq!(tree(bad, a.clone()).await.code(), "bad_parameter", "{bad}");
    }
}

#[tokio::test]
async fn an_item_that_awaits_a_run_says_what_that_waits_for() {
    let stage = Stage::open().await;
    let run = stage.start("flow: f\ntasks:\n  a: { action: nobody/does }\n").await;
    let item = add(&stage, json!({ "title": "a" })).await;
    let awaits = json!({ "on": run, "type": "awaits" });
    let depends = stage.post(&format!("/api/v1/items/{item}/depend"), &awaits).await;
    assert_eq!(depends.status, 200, "{}", depends.text);
    let why = stage.get(&format!("/api/v1/items/{item}/why")).await.json();
    let task = &why["because"][0]["because"][0];
    assert!(task["id"].as_str().unwrap().ends_with("/a"), "{why}");
    assert!(task["says"].as_str().unwrap().contains("a worker that offers nobody/does"), "{why}");
}

#[tokio::test]
async fn pages_of_items_follow_each_other_without_a_gap() {
    let stage = Stage::open().await;
    let ops: Vec<Value> =
        (0..7).map(|n| json!({ "op": "add", "title": format!("T{n}"), "priority": n % 3 + 1 })).collect();
    let batch = stage.post("/api/v1/items/batch", &json!({ "ops": ops })).await;
    assert_eq!(batch.json()["done"].as_array().unwrap().len(), 7, "{}", batch.text);
    let mut seen = Vec::new();
    let mut path = "/api/v1/items?limit=3".to_owned();
    loop {
        let page = stage.get(&path).await.json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3);
        seen.extend(items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/v1/items?limit=3&after={next}"),
            None => break,
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7);
    assert_eq!(stage.get("/api/v1/items?priority=1,2&tags=none").await.json()["items"], json!([]));
}

#[tokio::test]
async fn a_batch_is_done_whole_or_not_at_all_and_once_for_its_key() {
    let stage = Stage::open().await;
    let bad = json!({ "ops": [{ "op": "add", "title": "A" }, { "op": "close", "id": "ew-none" }] });
    let refused = stage.post("/api/v1/items/batch", &bad).await;
    assert_eq!((refused.status, refused.code().as_str()), (404, "item_not_found"));
    assert_eq!(stage.get("/api/v1/items").await.json()["items"], json!([]));
    let good = json!({ "ops": [{ "op": "add", "title": "A", "as": "a" }, { "op": "claim", "id": "$a", "lease": "1h" }], "key": "k1" });
    for _ in 0..2 {
        assert_eq!(stage.post("/api/v1/items/batch", &good).await.status, 200);
    }
    assert_eq!(stage.get("/api/v1/items").await.json()["items"].as_array().unwrap().len(), 1);
    let lines = stage.get("/api/v1/items/export").await.text;
    assert!(lines.contains("\"record\":\"item\"") && lines.lines().count() == 1, "{lines}");
}

#[tokio::test]
async fn what_is_wrong_with_a_request_about_items_is_said() {
    let stage = Stage::open().await;
    let item = add(&stage, json!({ "title": "A" })).await;
    for (method, path, body, status, code) in [
        ("POST", "/api/v1/items".to_owned(), json!({}), 400, "bad_body"),
        ("POST", "/api/v1/items".to_owned(), json!({ "title": "A", "colour": 1 }), 400, "bad_body"),
        ("POST", "/api/v1/items".to_owned(), json!({ "title": "A", "deadline": "soon" }), 400, "bad_time"),
        ("POST", "/api/v1/items".to_owned(), json!({ "title": "A", "kind": "dog" }), 400, "bad_body"),
        ("PATCH", format!("/api/v1/items/{item}"), json!({ "priority": 9 }), 400, "bad_priority"),
        ("PATCH", "/api/v1/items/ew-none".to_owned(), json!({ "priority": 1 }), 404, "item_not_found"),
        ("POST", format!("/api/v1/items/{item}/close"), json!({ "how": "maybe" }), 400, "bad_body"),
        ("POST", format!("/api/v1/items/{item}/extend"), json!({ "token": "x" }), 400, "bad_body"),
        (
            "POST",
            format!("/api/v1/items/{item}/depend"),
            json!({ "on": "x", "type": "blox" }),
            400,
            "unknown_dependency_type",
        ),
        (
            "POST",
            "/api/v1/items/batch".to_owned(),
            json!({ "ops": [{ "op": "depend", "id": item, "on": "x", "type": "blox" }] }),
            400,
            "unknown_dependency_type",
        ),
        ("GET", "/api/v1/items?colour=1".to_owned(), json!({}), 400, "bad_parameter"),
        ("GET", "/api/v1/items?status=odd".to_owned(), json!({}), 400, "bad_parameter"),
        ("GET", "/api/v1/items?after=x".to_owned(), json!({}), 400, "bad_cursor"),
        ("GET", "/api/v1/items?limit=x".to_owned(), json!({}), 400, "bad_parameter"),
        ("GET", "/api/v1/items/ew-none".to_owned(), json!({}), 404, "item_not_found"),
    ] {
        let answer = stage.ask(method, &path, &[], &body.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{method} {path}: {}", answer.text);
    }
}

#[tokio::test]
async fn items_are_drawn_with_what_they_wait_for() {
    let stage = Stage::open().await;
    let first = add(&stage, json!({ "title": "first" })).await;
    let second = add(&stage, json!({ "title": "second" })).await;
    add(&stage, json!({ "title": "alone" })).await;
    let linked = stage.post(&format!("/api/v1/items/{second}/depend"), &json!({ "on": first })).await;
    assert_eq!(linked.status, 200, "{}", linked.text);
    let around = stage.get(&format!("/api/v1/items/{first}/graph?form=mermaid")).await.text;
    assert!(around.contains("first") && around.contains("second") && !around.contains("alone"), "{around}");
    let all = stage.get("/api/v1/items/graph?form=svg").await;
    assert!(all.text.starts_with("<svg") && all.text.contains("alone"), "{}", all.text);
    for (path, code) in
        [("graph?at=1", "item_has_no_past"), ("nosuch/graph", "item_not_found"), ("graph?form=png", "bad_parameter")]
    {
        let refused = stage.get(&format!("/api/v1/items/{path}")).await;
        assert!((400..500).contains(&refused.status), "{path}: {}", refused.text);
        assert_eq!(refused.code(), code, "{path}");
    }
}
