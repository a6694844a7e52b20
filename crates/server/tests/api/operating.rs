//! Flows, schedules, queues, tokens, insight into runs, and the events of the workspace.

use crate::items::add;
use crate::stage::{FLOW, GATED, Stage, name};
use edgewise_engine::queues::QueueSettings;
use serde_json::{Value, json};

#[tokio::test]
async fn a_flow_is_checked_registered_shown_and_drawn() {
    let stage = Stage::open().await;
    let good = stage.post("/api/v1/flows/check", &json!({ "source": FLOW })).await.json();
    assert_eq!((&good["ok"], &good["flows"][0]["flow"]), (&json!(true), &json!("greet")));
    let bad = stage.post("/api/v1/flows/check", &json!({ "source": "flow: x\ntaks: {}\n" })).await;
    assert_eq!((bad.status, &bad.json()["ok"]), (200, &json!(false)));
    assert!(bad.json()["problems"][0]["code"].is_string(), "{}", bad.text);
    let refused = stage.post("/api/v1/flows", &json!({ "source": "flow: x\n" })).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "bad_flow"));
    for changed in [true, false] {
        let registered = stage.post("/api/v1/flows", &json!({ "source": FLOW })).await.json();
        let expected = json!({ "flow": "greet", "changed": changed, "schedules": [], "webhook": false });
        assert_eq!(registered, json!({ "flows": [expected] }));
    }
    let plan = stage.post("/api/v1/flows/plan", &json!({ "source": FLOW })).await.json();
    assert_eq!(stage.get("/api/v1/flows/greet").await.json()["hash"], plan["hash"]);
    assert_eq!(stage.get("/api/v1/flows").await.json()["flows"][0]["flow"], "greet");
    let svg = stage.get("/api/v1/flows/greet/graph?form=svg").await;
    assert!(svg.text.contains("<svg") && svg.head.contains("image/svg+xml"), "{}", svg.head);
    assert!(stage.get("/api/v1/flows/greet/graph").await.json().is_object());
    assert_eq!(stage.get("/api/v1/flows/nobody").await.code(), "flow_not_found");
    assert_eq!(stage.get("/api/v1/flows/greet/graph?form=gif").await.code(), "bad_parameter");
    assert!(stage.get("/api/v1/flows/schema").await.json()["$schema"].is_string());
}

#[tokio::test]
async fn a_schedule_is_set_paused_backfilled_and_removed() {
    let stage = Stage::open().await;
    let set = json!({ "name": "nightly", "flow": "greet", "cron": "0 2 * * *", "zone": "Europe/Berlin" });
    assert_eq!(stage.post("/api/v1/schedules", &set).await.code(), "flow_not_found");
    stage.post("/api/v1/flows", &json!({ "source": FLOW })).await;
    assert_eq!(stage.post("/api/v1/schedules", &set).await.json(), json!({ "schedule": "nightly", "changed": true }));
    let path = "/api/v1/schedules/nightly";
    assert_eq!(stage.get(&format!("{path}/next?limit=3")).await.json()["ticks"].as_array().unwrap().len(), 3);
    assert_eq!(stage.post(&format!("{path}/pause"), &json!({ "why": "quiet" })).await.json()["changed"], true);
    assert_eq!(stage.get(path).await.json()["paused"], true);
    assert_eq!(stage.post(&format!("{path}/pause"), &json!({ "why": "quiet" })).await.json()["changed"], false);
    assert_eq!(stage.post(&format!("{path}/resume"), &json!({})).await.json()["changed"], true);
    let range = json!({ "from": "2026-01-01T00:00:00Z", "until": "2026-01-03T00:00:00Z" });
    let backfill = stage.post(&format!("{path}/backfill"), &range).await.json();
    assert_eq!(backfill["schedule"], "nightly/backfill-1");
    let own = stage.get("/api/v1/schedules/nightly%2Fbackfill-1").await;
    assert!(own.status == 200 || own.code() == "schedule_not_found", "it may be over already: {}", own.text);
    assert_eq!(stage.get("/api/v1/schedules?flow=greet").await.json()["schedules"][0]["schedule"], "nightly");
    assert_eq!(stage.post(&format!("{path}/remove"), &json!({})).await.status, 200);
    assert_eq!(stage.get(path).await.code(), "schedule_not_found");
    for bad in [
        json!({ "name": "x", "flow": "greet" }),
        json!({ "name": "x", "flow": "greet", "cron": "0 2 * * *", "every": "1h" }),
        json!({ "name": "x", "flow": "greet", "every": "1h", "overlap": "maybe" }),
    ] {
        assert_eq!(stage.post("/api/v1/schedules", &bad).await.code(), "bad_body", "{bad}");
    }
    let cron = json!({ "name": "x", "flow": "greet", "cron": "never" });
    assert_eq!(stage.post("/api/v1/schedules", &cron).await.status, 400);
}

#[tokio::test]
async fn a_paused_queue_gives_nothing_until_it_goes_on() {
    let stage = Stage::open().await;
    assert_eq!(stage.post("/api/v1/queues/default", &json!({ "paused": true })).await.json()["already"], false);
    assert_eq!(stage.post("/api/v1/queues/default", &json!({ "paused": true })).await.json()["already"], true);
    stage.start(FLOW).await;
    let claim = |wait: u64| json!({ "worker": "w", "actions": ["greet"], "wait_ms": wait });
    let leases = stage.post("/api/v1/work/claim", &claim(200)).await.json()["leases"].clone();
    assert_eq!(leases, json!([]));
    let queues = stage.get("/api/v1/queues").await.json();
    assert_eq!((&queues["queues"][0]["queue"], &queues["queues"][0]["paused"]), (&json!("default"), &json!(true)));
    stage.post("/api/v1/queues/default", &json!({ "slots": 5, "rate": "100/s" })).await;
    let leases = stage.post("/api/v1/work/claim", &claim(10_000)).await.json()["leases"].clone();
    assert_eq!(leases.as_array().unwrap().len(), 1);
    for bad in [json!({ "slots": 0 }), json!({ "rate": "often" }), json!({ "speed": 1 })] {
        assert_eq!(stage.post("/api/v1/queues/default", &bad).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_token_is_made_shown_once_used_and_revoked() {
    let stage = Stage::open().await;
    let asked = json!({ "name": "ci", "role": "viewer", "expires": "90d" });
    let made = stage.post("/api/v1/tokens", &asked).await.json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    assert_eq!(stage.post("/api/v1/tokens", &asked).await.code(), "token_exists");
    let listed = stage.get("/api/v1/tokens").await;
    assert_eq!((&listed.json()["tokens"][0]["name"], listed.json()["tokens"][0].get("token")), (&json!("ci"), None));
    let events = stage.raw_events("/api/v1/events?type=SettingChanged", "0", 1).await;
    assert!(events.contains("token/ci") && !events.contains("hash"), "{events}");
    assert_eq!(stage.ask("GET", "/api/v1/runs", &[("Authorization", &bearer)], "").await.status, 200);
    assert_eq!(stage.post("/api/v1/tokens/ci/revoke", &json!({})).await.status, 200);
    assert_eq!(stage.post("/api/v1/tokens/ci/revoke", &json!({})).await.code(), "token_not_found");
    assert_eq!(stage.post("/api/v1/tokens", &json!({ "name": "x", "role": "boss" })).await.code(), "bad_role");
}

#[tokio::test]
async fn a_run_tells_its_tasks_its_history_its_timing_and_what_would_happen() {
    let stage = Stage::open().await;
    let run = stage.start(GATED).await;
    let path = format!("/api/v1/runs/{run}");
    let task = stage.get(&format!("{path}/tasks/ask")).await.json();
    assert_eq!((&task["path"], &task["kind"]), (&json!("ask"), &json!("gate")));
    assert!(task["attempts"].is_array());
    let told = stage.post(&format!("{path}/what-if"), &json!({ "facts": ["ask=approve:alice"] })).await.json();
    assert_eq!((&told["over"], &told["phase"]), (&json!(true), &json!("succeeded")), "{told}");
    assert_eq!(stage.post(&format!("{path}/what-if"), &json!({ "facts": ["x"] })).await.status, 400);
    let first = stage.get(&format!("{path}/history?limit=1")).await.json();
    let next = first["next"].as_u64().unwrap();
    let rest = stage.get(&format!("{path}/history?after={next}")).await.json();
    let seqs = |page: &Value| -> Vec<u64> {
        page["history"].as_array().unwrap().iter().map(|step| step["seq"].as_u64().unwrap()).collect()
    };
    assert!(seqs(&first).iter().all(|seq| *seq <= next) && seqs(&rest).iter().all(|seq| *seq > next), "{first} {rest}");
    assert!(stage.get(&format!("{path}/timing")).await.json()["tasks"].is_array());
    assert!(stage.get(&format!("{path}/graph?form=mermaid")).await.text.contains("ask"));
    assert_eq!(stage.get(&format!("{path}/logs")).await.json(), json!({ "logs": [] }));
    assert_eq!(stage.get(&format!("{path}/logs?task=ask")).await.code(), "no_such_log");
    for what in ["tasks/none", "history?task=none"] {
        assert_eq!(stage.get(&format!("{path}/{what}")).await.code(), "task_not_found", "{what}");
    }
}

#[tokio::test]
async fn old_runs_are_listed_and_taken_away() {
    let stage = Stage::open().await;
    let run = stage.start(GATED).await;
    let asked = |dry: bool| json!({ "older_than": "0s", "dry_run": dry });
    assert_eq!(stage.post("/api/v1/runs/retain", &asked(false)).await.json()["gone"], json!([]));
    stage.post(&format!("/api/v1/runs/{run}/cancel"), &json!({})).await;
    stage.get(&format!("/api/v1/runs/{run}/end?wait_ms=10000")).await;
    assert_eq!(stage.post("/api/v1/runs/retain", &asked(true)).await.json()["gone"], json!([run]));
    let gone = stage.post("/api/v1/runs/retain", &asked(false)).await.json();
    let kept: Vec<&str> = gone["kept"].as_array().unwrap().iter().map(|kept| kept["code"].as_str().unwrap()).collect();
    assert!(gone["gone"] == json!([run]) || !kept.is_empty(), "{gone}");
    assert_eq!(stage.post("/api/v1/runs/retain", &json!({ "older_than": "long" })).await.status, 400);
}

#[tokio::test]
async fn events_of_the_workspace_come_in_order_and_go_on_behind_the_last_one_seen() {
    let stage = Stage::open().await;
    let run = stage.start(GATED).await;
    add(&stage, json!({ "title": "A" })).await;
    let all = stage.raw_events("/api/v1/events", "0", 3).await;
    let ids = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect()
    };
    let told = ids(&all);
    assert!(all.contains("event: RunTriggered") && all.contains("event: ItemAdded"), "{all}");
    let rest = stage.raw_events("/api/v1/events", &told[0], told.len() - 1).await;
    assert_eq!(ids(&rest), told[1..]);
    let only = stage.raw_events("/api/v1/events?type=ItemAdded,Other", "0", 1).await;
    assert_eq!(ids(&only).len(), 1, "{only}");
    let of_run = stage.raw_events(&format!("/api/v1/events?run={run}"), "0", told.len() - 1).await;
    assert!(!of_run.contains("ItemAdded"), "{of_run}");
    let bad = stage.ask("GET", "/api/v1/events", &[("Last-Event-ID", "x")], "").await;
    assert_eq!((bad.status, bad.code().as_str()), (400, "bad_event_id"));
    // From now on: what was before is not told again.
    let (news, _) = tokio::join!(stage.raw_events_from_now(1), add_soon(&stage));
    assert!(news.contains("\"title\":\"B\"") && !news.contains("\"title\":\"A\""), "{news}");
}

async fn add_soon(stage: &Stage) {
    // Told only to whoever listens already: it says so with its head.
    stage.listening.notified().await;
    add(stage, json!({ "title": "B" })).await;
}

#[tokio::test]
async fn queues_are_listed_as_the_engine_was_started_with_and_as_they_were_set_since() {
    let stage = Stage::open().await;
    let slots = |slots| QueueSettings { slots: Some(slots), ..QueueSettings::default() };
    stage.app.set_queues([(name("night"), slots(2)), (name("mail"), slots(3))].into());
    stage.post("/api/v1/queues/mail", &json!({ "slots": 9 })).await;
    let listed = stage.get("/api/v1/queues").await.json();
    let queues = listed["queues"].as_array().unwrap().iter();
    let found: Vec<_> = queues.map(|one| (one["queue"].as_str().unwrap(), one["slots"].as_u64())).collect();
    assert_eq!(found, [("mail", Some(9)), ("night", Some(2))], "{listed}");
}

#[tokio::test]
async fn of_many_who_make_a_token_of_one_name_at_once_one_succeeds() {
    let stage = Stage::open().await;
    let body = json!({ "name": "ann", "role": "viewer" });
    let mut made = Vec::new();
    let asked = std::iter::repeat_with(|| stage.post("/api/v1/tokens", &body)).take(4);
    let [a, b, c, d]: [_; 4] = asked.collect::<Vec<_>>().try_into().unwrap_or_else(|_| unreachable!());
    let (a, b, c, d) = tokio::join!(a, b, c, d);
    for answer in [a, b, c, d] {
        match answer.status {
            200 => made.push(answer.json()["token"].as_str().unwrap().to_owned()),
            _ => assert_eq!((answer.status, answer.code().as_str()), (409, "token_exists"), "{}", answer.text),
        }
    }
    let bearer = format!("Bearer {}", made[0]);
    assert_eq!(made.len(), 1);
    assert_eq!(stage.ask("GET", "/api/v1/runs", &[("Authorization", &bearer)], "").await.status, 200);
}

#[tokio::test]
async fn a_token_that_cannot_be_read_is_listed_is_not_written_over_and_can_be_revoked() {
    let stage = Stage::open().await;
    stage.set_token("ann", Some(json!("not a token"))).await;
    let listed = stage.get("/api/v1/tokens").await.json();
    assert_eq!(listed["tokens"], json!([{ "name": "ann", "role": "unreadable" }]));
    let taken = stage.post("/api/v1/tokens", &json!({ "name": "ann", "role": "viewer" })).await;
    assert_eq!((taken.status, taken.code().as_str()), (409, "token_exists"));
    assert_eq!(stage.post("/api/v1/tokens/ann/revoke", &json!({})).await.status, 200);
    assert_eq!(stage.get("/api/v1/tokens").await.json()["tokens"], json!([]));
}
