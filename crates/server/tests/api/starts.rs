//! Flows that are begun from outside, by an address of their own.

use crate::stage::{Answer, Stage};
use edgewise_server::auth::Role;
use serde_json::{Value, json};

const FLOW: &str = "flow: data/report\ninputs: { day: { type: string }, n: { type: integer, default: 1 } }\n\
                    on: { webhook: {} }\ntasks:\n  a: { gate: { timer: 0s } }\noutput: '${{ inputs.day }}'\n";
const WHOLE: &str = "flow: whole\ninputs: { body: { type: any } }\non: { webhook: { into: body } }\n\
                     tasks:\n  a: { gate: { timer: 0s } }\noutput: '${{ inputs.body }}'\n";

async fn register(stage: &Stage, source: &str) -> Value {
    let registered = stage.post("/api/v1/flows", &json!({ "source": source })).await;
    assert_eq!(registered.status, 200, "{}", registered.text);
    registered.json()["flows"][0].clone()
}

async fn address(stage: &Stage, flow: &str) -> String {
    let flow = flow.replace('/', "%2F");
    let hook = stage.post(&format!("/api/v1/flows/{flow}/url"), &json!({ "expires": "7d" })).await;
    assert_eq!(hook.status, 200, "{}", hook.text);
    hook.json()["path"].as_str().unwrap().to_owned()
}

async fn call(stage: &Stage, path: &str, id: &str, body: &str) -> Answer {
    stage.bare("POST", path, &[("webhook-id", id)], body).await
}

async fn output(stage: &Stage, run: &Value) -> Value {
    let run = run.as_str().unwrap();
    stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await;
    stage.get(&format!("/api/v1/runs/{run}")).await.json()["output"].clone()
}

#[tokio::test]
async fn a_call_of_its_address_begins_a_run_and_the_same_call_again_begins_nothing() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let stage = stage.speaking(&admin);
    assert_eq!(register(&stage, FLOW).await["webhook"], true);
    let path = address(&stage, "data/report").await;
    let body = json!({ "day": "monday" }).to_string();
    let first = call(&stage, &path, "1", &body).await;
    assert_eq!((first.status, first.json()["new"].clone()), (200, json!(true)), "{}", first.text);
    let again = call(&stage, &path, "1", &body).await.json();
    assert_eq!((&again["run"], &again["new"]), (&first.json()["run"], &json!(false)));
    let other = call(&stage, &path, "1", &json!({ "day": "friday" }).to_string()).await;
    assert_eq!((other.status, other.code().as_str()), (409, "key_taken"), "one id is one delivery");
    let second = call(&stage, &path, "2", &body).await.json();
    assert!(second["new"] == true && second["run"] != first.json()["run"], "{second}");
    let run = stage.get(&format!("/api/v1/runs/{}", first.json()["run"].as_str().unwrap())).await.json();
    assert_eq!((&run["by"], &run["input"]), (&json!("webhook"), &json!({ "day": "monday", "n": 1 })), "{run}");
    let listed = stage.get("/api/v1/flows").await.json();
    assert_eq!(listed["flows"][0]["webhook"], true);
    assert_eq!(stage.get("/api/v1/flows/data%2Freport").await.json()["webhook"], json!({}));
    let trail = stage.get("/api/v1/audit").await.text;
    assert!(!trail.contains(path.rsplit_once('.').unwrap().1), "the proof of an address is not written down");
}

#[tokio::test]
async fn what_does_not_fit_the_flow_begins_nothing() {
    let stage = Stage::open().await;
    register(&stage, FLOW).await;
    let path = address(&stage, "data/report").await;
    for (body, status, code) in [
        ("[1]", 400, "bad_body"),
        ("{", 400, "bad_body"),
        ("", 400, "bad_input"),
        (r#"{"day":7}"#, 400, "bad_input"),
        (r#"{"day":"monday","strange":1}"#, 400, "bad_input"),
        (&"x".repeat((1 << 20) + 1), 413, "body_too_large"),
    ] {
        let answer = call(&stage, &path, "1", body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{}", answer.text);
    }
    assert_eq!(stage.get("/api/v1/runs").await.json()["runs"], json!([]));
}

#[tokio::test]
async fn the_whole_body_may_be_one_input() {
    let stage = Stage::open().await;
    register(&stage, WHOLE).await;
    let path = address(&stage, "whole").await;
    for (id, body, expected) in
        [("1", "[1]", json!([1])), ("2", "plain words", json!("plain words")), ("3", "", json!(null))]
    {
        let begun = call(&stage, &path, id, body).await;
        assert_eq!(begun.status, 200, "{}", begun.text);
        assert_eq!(output(&stage, &begun.json()["run"]).await, expected, "{body}");
    }
}

#[tokio::test]
async fn an_address_is_good_for_its_flow_and_for_as_long_as_the_flow_says_so() {
    let stage = Stage::open().await;
    register(&stage, FLOW).await;
    register(&stage, WHOLE).await;
    let (path, theirs) = (address(&stage, "data/report").await, address(&stage, "whole").await);
    let tag = |path: &str| path.rsplit_once('.').unwrap().1.to_owned();
    let over = stage.post("/api/v1/flows/whole/url", &json!({ "expires": "0s" })).await.json();
    for (path, code) in [
        (path.replace(&tag(&path), &tag(&theirs)), "hook_not_found"),
        (path.replace("data~report", "whole"), "hook_not_found"),
        (path.replace("/starts/", "/hooks/"), "hook_not_found"),
        (format!("{path}0"), "hook_not_found"),
        ("/api/v1/starts/x".to_owned(), "hook_not_found"),
        ("/api/v1/starts/..%2F..%2Fetc.1.00".to_owned(), "hook_not_found"),
        (over["path"].as_str().unwrap().to_owned(), "hook_expired"),
    ] {
        let answer = call(&stage, &path, "1", "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (404, code), "{path}");
    }
    let without = FLOW.replace("on: { webhook: {} }\n", "");
    assert_eq!(register(&stage, &without).await["webhook"], false);
    let gone = call(&stage, &path, "1", r#"{"day":"monday"}"#).await;
    assert_eq!((gone.status, gone.code().as_str()), (404, "no_webhook"));
    let refused = stage.post("/api/v1/flows/data%2Freport/url", &json!({})).await;
    assert_eq!((refused.status, refused.code().as_str()), (404, "no_webhook"));
    assert_eq!(stage.post("/api/v1/flows/none/url", &json!({})).await.code(), "flow_not_found");
    register(&stage, FLOW).await;
    assert_eq!(call(&stage, &path, "1", r#"{"day":"monday"}"#).await.status, 200, "and is good again with it");
}

#[tokio::test]
async fn an_address_that_is_called_too_often_is_told_to_wait() {
    let stage = Stage::still().await;
    register(&stage, FLOW).await;
    register(&stage, WHOLE).await;
    let path = address(&stage, "data/report").await;
    let mut heard = 0;
    while call(&stage, &path, "1", "[]").await.status == 400 {
        heard += 1;
        assert!(heard < 1_000, "nobody is told to wait");
    }
    assert!(heard >= 10, "a few at once are fine, {heard} were heard");
    let refused = call(&stage, &path, "1", "[]").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_often"));
    assert!(refused.head.to_lowercase().contains("\r\nretry-after: 1\r\n"), "{}", refused.head);
    let other = address(&stage, "whole").await;
    assert_eq!(call(&stage, &other, "1", "{}").await.status, 200, "other flows are not held up");
}
