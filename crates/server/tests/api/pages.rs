//! Lists that may be long come in pages, and the pages together are the list.

use crate::domain;
use crate::items::add;
use crate::stage::{FLOW, Stage};
use edgewise_server::auth::Role;
use serde_json::{Value, json};

/// What all pages of a list hold, two at a time, told by one field.
async fn walk(stage: &Stage, path: &str, (list, field): (&str, &str)) -> Vec<Vec<Value>> {
    let (mut pages, mut after) = (Vec::new(), String::new());
    loop {
        let answer = stage.get(&format!("{path}?limit=2{after}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        let page = answer.json();
        pages.push(page[list].as_array().unwrap().iter().map(|one| one[field].clone()).collect());
        match &page["next"] {
            Value::Null => return pages,
            Value::String(next) => after = format!("&after={next}"),
            place => after = format!("&after={place}"),
        }
        assert!(pages.len() < 100, "{path} does not end");
    }
}

async fn check(stage: &Stage, path: &str, list: (&str, &str), expected: Value) {
    assert_eq!(json!(walk(stage, path, list).await), expected, "{path}");
    let bad = stage.get(&format!("{path}?after=nonsense")).await;
    assert_eq!((bad.status, bad.code().as_str()), (400, "bad_cursor"), "{path}");
}

#[tokio::test]
async fn the_tasks_of_a_run_come_in_pages_where_that_is_asked_for() {
    let stage = Stage::open().await;
    let flow = "flow: f\ntasks:\n  a: { action: x }\n  b: { action: x }\n  c: { action: x }\n  d: { action: x }\n  e: { action: x }\n";
    let path = format!("/api/v1/runs/{}", stage.start(flow).await);
    check(&stage, &path, ("tasks", "path"), json!([["a", "b"], ["c", "d"], ["e"]])).await;
    let whole = stage.get(&path).await.json();
    assert_eq!((whole["tasks"].as_array().unwrap().len(), whole.get("next")), (5, None));
}

#[tokio::test]
async fn threads_and_histories_of_items_come_in_pages() {
    let stage = Stage::open().await;
    let first = add(&stage, json!({ "title": "A", "kind": "message" })).await;
    let mut expected = vec![first.clone()];
    for title in ["B", "C"] {
        let answer = add(&stage, json!({ "title": title, "kind": "message" })).await;
        let replies = json!({ "on": first, "type": "replies-to" });
        let bound = stage.post(&format!("/api/v1/items/{answer}/depend"), &replies).await;
        assert_eq!(bound.status, 200, "{}", bound.text);
        expected.push(answer);
    }
    let path = format!("/api/v1/items/{first}");
    check(&stage, &format!("{path}/thread"), ("items", "id"), json!([expected[..2], expected[2..]])).await;
    for priority in [1, 2] {
        stage.ask("PATCH", &path, &[], &json!({ "priority": priority }).to_string()).await;
    }
    let whole = stage.get(&format!("{path}/history")).await.json()["history"].as_array().unwrap().clone();
    let pages = walk(&stage, &format!("{path}/history"), ("history", "what")).await;
    let told: Vec<&Value> = whole.iter().map(|note| &note["what"]).collect();
    assert!(pages.len() > 1 && pages.concat().iter().collect::<Vec<_>>() == told, "{pages:?} of {told:?}");
}

#[tokio::test]
async fn webhooks_and_what_they_could_not_be_told_come_in_pages() {
    let stage = Stage::open().await;
    let flow = "flow: f\nnamespace: shop\ntasks:\n  a: { emit: one }\n  b: { after: a, emit: two }\n  c: { after: b, emit: three }\n";
    stage.start(flow).await;
    let mut ids = Vec::new();
    for path in ["a", "b", "c"] {
        let body = json!({ "namespace": "shop", "url": format!("https://example.org/{path}") });
        ids.push(stage.post("/api/v1/webhooks", &body).await.json()["id"].clone());
    }
    ids.sort_by_key(|id| id.as_str().unwrap().to_owned());
    check(&stage, "/api/v1/webhooks", ("webhooks", "id"), json!([ids[..2], ids[2..]])).await;
    domain::until(&stage, "/api/v1/domain/shop", |queue| queue["events"].as_array().unwrap().len() == 3).await;
    let hook = format!("/api/v1/webhooks/{}", ids[0].as_str().unwrap());
    let all = json!({ "from": 1, "to": 3 });
    assert_eq!(stage.post(&format!("{hook}/replay"), &all).await.json(), json!({ "events": 3 }));
    let dead = format!("{hook}/dead");
    assert_eq!(walk(&stage, &dead, ("dead", "name")).await, [vec![json!("one"), json!("two")], vec![json!("three")]]);
    assert_eq!(stage.get(&format!("{dead}?after=nonsense")).await.code(), "bad_parameter");
}

#[tokio::test]
async fn tokens_and_the_trail_come_in_pages() {
    let stage = Stage::open().await;
    for who in ["ann", "bobby", "carol"] {
        stage.token(who, Role::Viewer, None).await;
    }
    check(&stage, "/api/v1/tokens", ("tokens", "name"), json!([["ann", "bobby"], ["carol"]])).await;
    for who in ["one", "two", "three", "four", "five"] {
        let act = [("Edgewise-As", who)];
        stage.ask("POST", "/api/v1/runs", &act, &json!({ "source": FLOW }).to_string()).await;
    }
    // The newest page first, each with its oldest line first; what happens meanwhile moves nothing.
    check(&stage, "/api/v1/audit", ("lines", "who"), json!([["four", "five"], ["two", "three"], ["one"]])).await;
    let page = stage.get("/api/v1/audit?limit=1").await.json();
    stage.start(FLOW).await;
    let next = stage.get(&format!("/api/v1/audit?limit=1&after={}", page["next"].as_str().unwrap())).await.json();
    assert_eq!((&page["lines"][0]["who"], &next["lines"][0]["who"]), (&json!("five"), &json!("four")));
}

/// What is found by whoever deals with everything they see before they ask for more, told by one field.
async fn dealt_with(stage: &Stage, path: &str, (list, field): (&str, &str), act: impl AsyncFn(&str)) -> Vec<String> {
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let answer = stage.get(&format!("{path}limit=4{after}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        let page = answer.json();
        for one in page[list].as_array().unwrap() {
            let name = one[field].as_str().unwrap().to_owned();
            act(&name).await;
            seen.push(name);
        }
        let Some(next) = page["next"].as_str() else { return seen };
        after = format!("&after={next}");
        assert!(seen.len() < 100, "{path} does not end");
    }
}

#[tokio::test]
async fn whoever_deals_with_what_they_see_before_they_ask_for_more_sees_everything_once() {
    let stage = Stage::open().await;
    for sort in ["oldest", "priority", "effective", "deadline"] {
        for kind in ["", "/ready"] {
            for n in 0..8 {
                add(&stage, json!({ "title": format!("P{n}"), "priority": 1 + n % 3 })).await;
            }
            let all = stage.get(&format!("/api/v1/items{kind}?sort={sort}")).await.json();
            let expected: Vec<String> =
                all["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
            let path = format!("/api/v1/items{kind}?sort={sort}&");
            let act = async |item: &str| {
                let closed = stage.post(&format!("/api/v1/items/{item}/close"), &json!({})).await;
                assert_eq!(closed.status, 200, "{}", closed.text);
            };
            let seen = dealt_with(&stage, &path, ("items", "id"), act).await;
            assert_eq!(seen, expected, "{path}");
        }
    }
    let mut gates = Vec::new();
    for _ in 0..9 {
        let gate = stage.post("/api/v1/gates", &json!({ "gateType": "webhook" })).await.json();
        gates.push(gate["id"].as_str().unwrap().to_owned());
    }
    gates.sort();
    let satisfy = async |gate: &str| {
        assert_eq!(stage.post(&format!("/api/v1/gates/{gate}/satisfy"), &json!({})).await.status, 200);
    };
    assert_eq!(dealt_with(&stage, "/api/v1/gates?", ("gates", "id"), satisfy).await, gates);
    let names: Vec<String> = (0..9).map(|n| format!("t{}", "x".repeat(n))).collect();
    for name in &names {
        stage.token(name, Role::Viewer, None).await;
    }
    let revoke = async |name: &str| stage.revoke(name).await;
    assert_eq!(dealt_with(&stage, "/api/v1/tokens?", ("tokens", "name"), revoke).await, names);
}

#[tokio::test]
async fn a_cursor_whose_place_nobody_knows_any_more_is_refused() {
    let stage = Stage::open().await;
    for n in 0..5 {
        add(&stage, json!({ "title": format!("P{n}") })).await;
    }
    let path = "/api/v1/items?sort=unblocks&limit=2";
    let page = stage.get(path).await.json();
    let more = format!("{path}&after={}", page["next"].as_str().unwrap());
    assert_eq!(stage.get(&more).await.json()["items"].as_array().unwrap().len(), 2);
    let last = page["items"][1]["id"].as_str().unwrap();
    assert_eq!(stage.post(&format!("/api/v1/items/{last}/close"), &json!({})).await.status, 200);
    let gone = stage.get(&more).await;
    assert_eq!((gone.status, gone.code().as_str()), (409, "cursor_gone"), "{}", gone.text);
}
