//! Push workers: called with their tasks, over real connections, by a server that may be stopped meanwhile.

use crate::caller::{Caller, LEASE, TIMEOUT, Target};
use crate::stage::name;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::push::PushWorkers;
use edgewise_engine::webhook::{Secret, verify};
use serde_json::json;

const FLOW: &str = "flow: f\ntasks:\n  a: { action: greet, with: { name: world }, retry: { max_attempts: 3, backoff: { kind: fixed, base: 1ms } } }\n";
#[tokio::test]
async fn a_push_worker_is_called_signed_and_its_answer_is_the_report() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    let secret = caller.add("greeter", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    let call = target.call().await;
    let lease = call.lease();
    assert_eq!((&lease["run"], &lease["task"], &lease["action"]), (&json!(run), &json!("a"), &json!("greet")));
    assert_eq!((&lease["input"], &lease["attempt"]), (&json!({ "name": "world" }), &json!(1)));
    let (id, seconds) = (call.head["webhook-id"].as_str(), call.head["webhook-timestamp"].parse().unwrap());
    let check = |now: Time| verify(&secret, (id, seconds), &call.text, &call.head["webhook-signature"], now);
    check(wall_clock()).unwrap();
    assert_eq!(check(wall_clock().plus(Millis(600_000))).unwrap_err().code, "old_signature", "a replay, later");
    assert!(id.starts_with(&format!("{run}.")) && !id.contains(call.token().rsplit_once('.').unwrap().1), "{id}");
    call.says(&json!({ "output": { "said": "hello" } })).await;
    let end = caller.end(&run).await;
    assert_eq!((&end["state"], &end["output"]["a"]["said"]), (&json!("Complete"), &json!("hello")));
    let metrics = caller.stage.get("/metrics").await.text;
    assert!(metrics.contains("edgewise_push_calls_total{end=\"completed\"} 1"), "{metrics}");
    caller.stop().await;
}

#[tokio::test]
async fn an_error_that_it_answers_is_the_errors_of_the_attempt() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    target.call().await.says(&json!({ "error": { "type": "down", "message": "not now" } })).await;
    let again = target.call().await;
    assert_eq!(again.lease()["attempt"], 2, "and it is called again at once: it is there");
    again.says(&json!({ "error": { "type": "broken", "permanent": true } })).await;
    assert_eq!(caller.end(&run).await["state"], "Error");
    caller.stop().await;
}

#[tokio::test]
async fn a_worker_that_accepts_reports_by_itself_and_has_its_slot_until_then() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({ "slots": 1 })).await;
    let runs = [caller.stage.start(FLOW).await, caller.stage.start(FLOW).await];
    let mut done = Vec::new();
    for _ in &runs {
        let call = target.call().await;
        let (lease, run) = (call.token(), call.lease()["run"].as_str().unwrap().to_owned());
        call.answer(202, "", "").await;
        caller.shown("greeter", |shown| shown["calling"] == 0 && shown["at_work"] == 1).await;
        assert!(target.is_left_alone().await, "it has one slot");
        let beats = caller.stage.post("/api/v1/work/heartbeat", &json!({ "leases": [lease] })).await.json();
        assert_eq!(beats["beats"][0]["continue"], true);
        let report = json!({ "results": [{ "lease": lease, "output": 1 }] });
        let told = caller.stage.post("/api/v1/work/complete", &report).await.json();
        assert_eq!(told["results"][0]["status"], 200);
        assert_eq!(caller.end(&run).await["state"], "Complete");
        done.push(run);
    }
    assert!(runs.iter().all(|run| done.contains(run)));
    caller.stop().await;
}

#[tokio::test]
async fn a_worker_that_is_busy_gets_the_same_attempt_later_and_its_wish_is_honoured() {
    for (status, more, held_off) in
        [(429, "Retry-After: 20\r\n", 20_000), (503, "", 500), (503, "Retry-After: 7\r\n", 7_000)]
    {
        let (caller, target) = (Caller::open().await, Target::open().await);
        caller.add("greeter", &target.url(), json!({})).await;
        let run = caller.stage.start(FLOW).await;
        let first = target.call().await;
        let id = first.head["webhook-id"].clone();
        first.answer(status, more, "").await;
        let shown = caller.shown("greeter", |shown| shown["failures"] == 1).await;
        assert_eq!(shown["trouble"], format!("the answer was {status}"));
        assert!(target.is_left_alone().await);
        caller.time.pass(held_off);
        let again = target.call().await;
        assert_eq!(again.lease()["attempt"], 1, "nothing is spent");
        assert_ne!(again.head["webhook-id"], id, "it is another dispatch");
        again.says(&json!({})).await;
        assert_eq!(caller.end(&run).await["state"], "Complete");
        caller.shown("greeter", |shown| shown["failures"] == 0 && shown["trouble"].is_null()).await;
        caller.stop().await;
    }
}

#[tokio::test]
async fn a_bad_answer_fails_the_attempt_with_a_type_of_its_own_and_the_next_waits() {
    let check = async |answer: Option<(u16, &str)>, kind: &str| {
        let (caller, target) = (Caller::open().await, Target::open().await);
        caller.add("greeter", &target.url(), json!({})).await;
        let run = caller.stage.start(FLOW).await;
        let call = target.call().await;
        match answer {
            Some((status, body)) => call.answer(status, "Location: http://127.0.0.1:1/\r\n", body).await,
            None => drop(call),
        }
        caller.shown("greeter", |shown| shown["failures"] == 1 && shown["calling"] == 0).await;
        assert!(target.is_left_alone().await, "{kind}: it is left alone for a while");
        let task = caller.stage.get(&format!("/api/v1/runs/{run}/tasks/a")).await.text;
        assert!(task.contains(kind), "{kind} is not in {task}");
        caller.time.pass(500);
        let again = target.call().await;
        assert_eq!(again.lease()["attempt"], 2);
        again.says(&json!({})).await;
        assert_eq!(caller.end(&run).await["state"], "Complete");
        caller.stop().await;
    };
    check(Some((500, "")), "push_status").await;
    check(Some((302, "")), "push_status").await;
    check(Some((200, "fine")), "push_bad_answer").await;
    check(Some((200, "{\"lease\":\"another\"}")), "push_bad_answer").await;
    check(None, "push_broken_off").await;
}

#[tokio::test]
async fn a_worker_that_is_not_there_costs_no_attempts_and_no_other_worker_waits_for_it() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    let url = target.url();
    drop(target);
    caller.add("away", &url, json!({ "slots": 5 })).await;
    let runs = [caller.stage.start(FLOW).await, caller.stage.start(FLOW).await];
    caller.shown("away", |shown| shown["failures"] == 1 && shown["at_work"] == 0).await;
    for (held_off, failures) in [(500, 2), (1_000, 3), (2_000, 4)] {
        caller.time.pass(held_off);
        caller.shown("away", |shown| shown["failures"] == failures && shown["at_work"] == 0).await;
    }
    let metrics = caller.stage.get("/metrics").await.text;
    let spared = |calls: u32| metrics.contains(&format!("edgewise_push_calls_total{{end=\"given_back\"}} {calls}\n"));
    assert!(spared(1) || spared(2), "tasks are not held up to see whether it is back: {metrics}");
    let present = Target::open().await;
    caller.add("present", &present.url(), json!({ "slots": 2 })).await;
    for _ in &runs {
        let call = present.call().await;
        assert_eq!(call.lease()["attempt"], 1);
        call.says(&json!({})).await;
    }
    for run in &runs {
        assert_eq!(caller.end(run).await["state"], "Complete");
    }
    caller.stop().await;
}

#[tokio::test]
async fn a_call_that_hangs_is_kept_up_and_given_up_in_time_and_slows_nobody() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("hangs", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    let hanging = target.call().await;
    let other = Target::open().await;
    caller.add("quick", &other.url(), json!({})).await;
    let next = caller.stage.start(FLOW).await;
    other.call().await.says(&json!({})).await;
    assert_eq!(caller.end(&next).await["state"], "Complete");
    let moved = || async {
        caller.time.pass(LEASE / 3);
        let beats = json!({ "leases": [hanging.token()] });
        caller.stage.post("/api/v1/work/heartbeat", &beats).await.json()["beats"][0]["continue"].clone()
    };
    assert_eq!(moved().await, true);
    caller.act("quick", "remove").await;
    caller.time.pass(TIMEOUT);
    hanging.hung_up().await;
    let task = caller.shown("hangs", |shown| shown["failures"] == 1 && shown["calling"] == 0).await;
    assert!(task["trouble"].as_str().unwrap().contains("did not answer within"), "{task}");
    let task = caller.stage.get(&format!("/api/v1/runs/{run}/tasks/a")).await.text;
    assert!(task.contains("push_timeout"), "{task}");
    caller.stop().await;
}

#[tokio::test]
async fn a_cancel_hangs_up() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    let call = target.call().await;
    assert_eq!(caller.stage.post(&format!("/api/v1/runs/{run}/cancel"), &json!({})).await.status, 200);
    call.hung_up().await;
    caller.shown("greeter", |shown| shown["calling"] == 0 && shown["failures"] == 0).await;
    assert!(caller.stage.get("/metrics").await.text.contains("edgewise_push_calls_total{end=\"cancelled\"} 1"));
    caller.stop().await;
}

#[tokio::test]
async fn a_server_that_is_stopped_in_the_middle_loses_nothing() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({ "slots": 1 })).await;
    let run = caller.stage.start(FLOW).await;
    let call = target.call().await;
    let lease = call.token();
    let caller = Caller::of(caller.stop().await).await;
    call.hung_up().await;
    assert!(target.is_left_alone().await, "the lease from before still has the slot");
    let report = json!({ "results": [{ "lease": lease, "output": 1 }] });
    let told = caller.stage.post("/api/v1/work/complete", &report).await.json();
    assert_eq!(told["results"][0]["status"], 200, "the worker can still report what it did");
    assert_eq!(caller.end(&run).await["state"], "Complete");
    caller.stop().await;
}

#[tokio::test]
async fn a_lease_that_lapsed_is_somebody_elses_and_the_late_answer_changes_nothing() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({ "lease_ms": 1_000 })).await;
    let run = caller.stage.start(FLOW).await;
    // Its heartbeats never pass here, as if the server had been paused.
    let late = target.call().await;
    let again = caller.called(&target).await;
    assert_eq!(again.lease()["attempt"], 2);
    let stale = json!({ "results": [{ "lease": late.token(), "output": "late" }] });
    let told = caller.stage.post("/api/v1/work/complete", &stale).await.json();
    assert_eq!((&told["results"][0]["status"], &told["results"][0]["code"]), (&json!(409), &json!("attempt_over")));
    late.hung_up().await;
    again.says(&json!({ "output": "in time" })).await;
    let end = caller.end(&run).await;
    assert_eq!((&end["state"], &end["output"]["a"]), (&json!("Complete"), &json!("in time")));
    caller.stop().await;
}

#[tokio::test]
async fn a_worker_that_rests_or_is_gone_gets_nothing_new_and_what_it_has_goes_on() {
    for what in ["pause", "remove"] {
        let (caller, target) = (Caller::open().await, Target::open().await);
        caller.add("greeter", &target.url(), json!({ "slots": 3 })).await;
        let run = caller.stage.start(FLOW).await;
        let call = target.call().await;
        assert_eq!(caller.act("greeter", what).await["already"], false);
        let next = caller.stage.start(FLOW).await;
        assert!(target.is_left_alone().await, "{what}");
        call.says(&json!({})).await;
        assert_eq!(caller.end(&run).await["state"], "Complete", "{what}");
        if what == "pause" {
            assert_eq!(caller.act("greeter", "pause").await["already"], true);
            assert_eq!(caller.act("greeter", "resume").await["already"], false);
        } else {
            assert_eq!(caller.stage.get("/api/v1/workers/greeter").await.code(), "worker_not_found");
            caller.add("greeter", &target.url(), json!({})).await;
        }
        caller.called(&target).await.says(&json!({})).await;
        assert_eq!(caller.end(&next).await["state"], "Complete", "{what}");
        caller.stop().await;
    }
}

#[tokio::test]
async fn an_answer_of_410_switches_it_off_and_spends_nothing() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    target.call().await.answer(410, "", "").await;
    let shown = caller.shown("greeter", |shown| !shown["off"].is_null()).await;
    assert!(shown["off"].as_str().unwrap().contains("410"), "{shown}");
    assert!(target.is_left_alone().await);
    caller.act("greeter", "resume").await;
    let again = caller.called(&target).await;
    assert_eq!(again.lease()["attempt"], 1);
    again.says(&json!({})).await;
    assert_eq!(caller.end(&run).await["state"], "Complete");
    caller.stop().await;
}

#[tokio::test]
async fn a_changed_secret_signs_beside_the_one_before() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    let before = caller.add("greeter", &target.url(), json!({})).await;
    let after = caller.act("greeter", "rotate").await;
    let after = Secret::parse(after["secret"].as_str().unwrap()).unwrap();
    assert_ne!(before.text(), after.text());
    caller.stage.start(FLOW).await;
    let call = caller.called(&target).await;
    let (id, seconds) = (call.head["webhook-id"].as_str(), call.head["webhook-timestamp"].parse().unwrap());
    for secret in [before, after] {
        verify(&secret, (id, seconds), &call.text, &call.head["webhook-signature"], wall_clock()).unwrap();
    }
    call.says(&json!({})).await;
    let listed = caller.stage.get("/api/v1/workers").await.text;
    assert!(!listed.contains("whsec_"), "{listed}");
    caller.stop().await;
}

#[tokio::test]
async fn only_addresses_that_may_be_asked_are_called() {
    let caller = Caller::open().await;
    let long = format!("https://a/{}", "x".repeat(3_000));
    for bad in ["", "x", "file:///etc/passwd", "ftp://a/", "https://", "https://u:p@a/", "https://a/#f", &long] {
        let body = json!({ "name": "w", "url": bad, "actions": ["greet"] });
        assert_eq!(caller.stage.post("/api/v1/workers", &body).await.code(), "bad_url", "{bad}");
    }
    for (more, code) in [
        (json!({ "actions": [] }), "empty_claim"),
        (json!({ "actions": ["edgewise/command"] }), "own_action"),
        (json!({ "slots": 0 }), "bad_slots"),
        (json!({ "slots": 1_001 }), "bad_slots"),
        (json!({ "lease_ms": 1 }), "bad_span"),
        (json!({ "timeout_ms": 1 }), "bad_span"),
        (json!({ "name": "../x" }), "bad_name"),
        (json!({ "secret": "mine" }), "bad_body"),
    ] {
        let mut body = json!({ "name": "w", "url": "https://a.example/", "actions": ["greet"] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(caller.stage.post("/api/v1/workers", &body).await.code(), code, "{body}");
    }
    // Not the machine that is allowed, and a number that stands for one.
    for hostile in ["http://127.0.0.2:1/", "http://169.254.169.254/latest", "http://[::1]:1/", "http://0x7f000002/"] {
        caller.add("hostile", hostile, json!({})).await;
        let run = caller.stage.start(FLOW).await;
        let shown = caller.shown("hostile", |shown| shown["failures"] == 1).await;
        assert!(shown["trouble"].as_str().unwrap().contains("not a public address"), "{hostile}: {shown}");
        caller.stage.post(&format!("/api/v1/runs/{run}/cancel"), &json!({})).await;
        caller.act("hostile", "remove").await;
        caller.shown("hostile", |shown| shown["code"] == "worker_not_found").await;
    }
    caller.stop().await;
}

#[tokio::test]
async fn a_name_is_given_once() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({})).await;
    let again = json!({ "name": "greeter", "url": target.url(), "actions": ["greet"] });
    assert_eq!(caller.stage.post("/api/v1/workers", &again).await.code(), "worker_exists");
    for what in ["pause", "resume", "rotate", "remove"] {
        let nobody = caller.stage.post(&format!("/api/v1/workers/nobody/{what}"), &json!({})).await;
        assert_eq!(nobody.code(), "worker_not_found", "{what}");
    }
    caller.stop().await;
}

#[tokio::test]
async fn a_change_that_was_made_elsewhere_counts_before_anybody_has_looked() {
    let (caller, target) = (Caller::open().await, Target::open().await);
    caller.add("greeter", &target.url(), json!({})).await;
    let run = caller.stage.start(FLOW).await;
    target.call().await.says(&json!({})).await;
    assert_eq!(caller.end(&run).await["state"], "Complete");
    // As the command line does it, past the server.
    let kept = PushWorkers::new(caller.stage.app.shelf().await.unwrap());
    kept.pause(&name("greeter"), "paused").unwrap();
    caller.stage.start(FLOW).await;
    assert!(target.is_left_alone().await);
    caller.stop().await;
}
