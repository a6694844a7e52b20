//! Gates from outside: people, other systems, webhooks.

use crate::items::add;
use crate::stage::{GATED, Stage};
use edgewise_server::auth::Role;
use serde_json::{Value, json};

async fn gate(stage: &Stage, body: Value) -> String {
    let made = stage.post("/api/v1/gates", &body).await;
    assert_eq!(made.status, 200, "{}", made.text);
    made.json()["id"].as_str().unwrap().to_owned()
}

async fn address(stage: &Stage, gate: &str, expires: &str) -> String {
    let hook = stage.post(&format!("/api/v1/gates/{gate}/url"), &json!({ "expires": expires })).await;
    assert_eq!(hook.status, 200, "{}", hook.text);
    hook.json()["path"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn whoever_knows_the_address_of_a_gate_opens_it_once_and_what_they_sent_is_kept() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let stage = stage.speaking(&admin);
    let gate = gate(&stage, json!({ "gateType": "webhook", "title": "deployed" })).await;
    let item = add(&stage, json!({ "title": "Tell everybody" })).await;
    let waits = json!({ "on": gate, "type": "awaits" });
    assert_eq!(stage.post(&format!("/api/v1/items/{item}/depend"), &waits).await.status, 200);
    let path = address(&stage, &gate, "7d").await;
    let body = json!({ "build": 4711 }).to_string();
    let first = stage.bare("POST", &path, &[("webhook-id", "msg_1")], &body).await;
    assert_eq!((first.status, first.json()), (200, json!({ "gates": [gate], "already": false })), "{}", first.text);
    let shown = stage.get(&format!("/api/v1/gates/{gate}")).await.json();
    assert_eq!((&shown["satisfied"], &shown["satisfiedBy"]), (&json!(true), &json!("webhook")));
    assert_eq!(shown["ended"]["evidence"], json!({ "delivery": "msg_1", "body": { "build": 4711 } }));
    assert_eq!(stage.get(&format!("/api/v1/items/{item}")).await.json()["ready"], true);
    let again = stage.bare("POST", &path, &[("webhook-id", "msg_1")], &body).await;
    assert_eq!((again.status, again.json()["already"].clone()), (200, json!(true)));
    for headers in [vec![("webhook-id", "msg_2")], vec![]] {
        let used = stage.bare("POST", &path, &headers, &body).await;
        assert_eq!((used.status, used.code().as_str()), (409, "hook_used"), "{headers:?}");
    }
}

#[tokio::test]
async fn an_address_that_was_not_made_here_or_is_over_opens_nothing() {
    let stage = Stage::open().await;
    let (one, other) =
        (gate(&stage, json!({ "gateType": "webhook" })).await, gate(&stage, json!({ "gateType": "webhook" })).await);
    let path = address(&stage, &one, "7d").await;
    let over = address(&stage, &one, "0s").await;
    for (path, code) in [
        (over, "hook_expired"),
        (path.replace(&one, &other), "hook_not_found"),
        (format!("{path}0"), "hook_not_found"),
        ("/api/v1/hooks/x".to_owned(), "hook_not_found"),
        (format!("/api/v1/hooks/{one}.99999999999999.00"), "hook_not_found"),
    ] {
        let answer = stage.post(&path, &json!({})).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, code), "{path}");
    }
    let large = "x".repeat(64 << 10);
    let refused = stage.ask("POST", &path, &[], &large).await;
    assert_eq!((refused.status, refused.code().as_str()), (413, "body_too_large"));
    assert_eq!(stage.get(&format!("/api/v1/gates/{one}")).await.json()["satisfied"], false);
    let text = stage.ask("POST", &path, &[], "plain").await;
    assert_eq!(text.status, 200, "{}", text.text);
    let kept = stage.get(&format!("/api/v1/gates/{one}")).await.json();
    assert_eq!(kept["ended"]["evidence"]["body"], "plain");
}

#[tokio::test]
async fn only_webhook_gates_have_addresses() {
    let stage = Stage::open().await;
    let people = gate(&stage, json!({ "gateType": "approval", "requiredApprovers": ["ann"] })).await;
    let refused = stage.post(&format!("/api/v1/gates/{people}/url"), &json!({})).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "wrong_gate"));
    let bad = stage.post("/api/v1/gates", &json!({ "gateType": "approval", "approvalCount": 0 })).await;
    assert_eq!((bad.status, bad.code().as_str()), (400, "bad_gate"));
}

#[tokio::test]
async fn another_system_opens_the_gates_that_wait_for_it_and_no_others() {
    let stage = Stage::open().await;
    let wait = |id: &str| json!({ "gateType": "external", "externalSystem": "ci", "externalId": id });
    let (a, b) = (gate(&stage, wait("4711")).await, gate(&stage, wait("4712")).await);
    let report = json!({ "externalSystem": "ci", "externalId": "4711", "evidence": { "green": true } });
    let opened = stage.post("/api/v1/gates/external", &report).await;
    assert_eq!(opened.json(), json!({ "gates": [a], "already": false }), "{}", opened.text);
    assert_eq!(stage.post("/api/v1/gates/external", &report).await.json()["already"], true);
    let open = |gate: String| {
        let stage = &stage;
        async move { stage.get(&format!("/api/v1/gates/{gate}")).await.json()["satisfied"] == json!(true) }
    };
    assert_eq!((open(a).await, open(b).await), (true, false));
    let nobody = json!({ "externalSystem": "ci", "externalId": "1" });
    assert_eq!(stage.post("/api/v1/gates/external", &nobody).await.code(), "gate_not_found");
}

#[tokio::test]
async fn a_frozen_run_keeps_no_gate_closed_but_its_own() {
    let stage = Stage::open().await;
    let flow = "flow: waits\ntasks:\n  ticket: { gate: { external: { system: jira, id: X-1 } } }\n";
    let [frozen, second, third] = [stage.start(flow).await, stage.start(flow).await, stage.start(flow).await];
    let of_items = gate(&stage, json!({ "gateType": "external", "externalSystem": "jira", "externalId": "X-1" })).await;
    assert_eq!(stage.post(&format!("/api/v1/runs/{frozen}/freeze"), &json!({})).await.status, 200);
    let report = json!({ "externalSystem": "jira", "externalId": "X-1", "evidence": { "done": true } });
    let opened = stage.post("/api/v1/gates/external", &report).await;
    let ticket = |run: &str| format!("{run}/ticket");
    let expected =
        json!({ "gates": [ticket(&second), ticket(&third), of_items], "already": false, "frozen": [ticket(&frozen)] });
    assert_eq!((opened.status, opened.json()), (200, expected));
    for run in [second, third] {
        assert_eq!(stage.get(&format!("/api/v1/runs/{run}/end")).await.json()["state"], "Complete");
    }
    let again = stage.post("/api/v1/gates/external", &report).await;
    assert_eq!((again.status, again.code().as_str()), (409, "run_frozen"), "nothing opened: {}", again.text);
    assert_eq!(stage.post(&format!("/api/v1/runs/{frozen}/unfreeze"), &json!({})).await.status, 200);
    let opened = stage.post("/api/v1/gates/external", &report).await;
    assert_eq!(opened.json(), json!({ "gates": [ticket(&frozen)], "already": false }));
}

#[tokio::test]
async fn the_name_of_the_token_is_the_approver_and_nobody_speaks_for_somebody_else() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let mallory = format!("Bearer {}", stage.token("mallory", Role::Approver, None).await);
    let ann = format!("Bearer {}", stage.token("ann-marie", Role::Approver, None).await);
    let operator = format!("Bearer {}", stage.token("operator", Role::Operator, None).await);
    let stage = stage.speaking(&admin);
    let gate = gate(&stage, json!({ "gateType": "approval", "requiredApprovers": ["ann-marie", "bob"] })).await;
    let path = format!("/api/v1/gates/{gate}/approve");
    let posing = stage.bare("POST", &path, &[("Authorization", &mallory), ("Edgewise-As", "bob")], "{}").await;
    assert_eq!((posing.status, posing.code().as_str()), (403, "not_yourself"));
    let not_asked = stage.bare("POST", &path, &[("Authorization", &mallory)], "{}").await;
    assert_eq!(not_asked.status, 403, "{}", not_asked.text);
    let yes = json!({ "why": "looks good" }).to_string();
    assert_eq!(stage.bare("POST", &path, &[("Authorization", &ann)], &yes).await.status, 200);
    let shown = stage.get(&format!("/api/v1/gates/{gate}")).await.json();
    assert_eq!(shown["currentApprovers"], json!(["ann-marie"]));
    // Somebody whom an admin vouches for.
    assert_eq!(stage.ask("POST", &path, &[("Edgewise-As", "bob")], "{}").await.status, 200);
    let shown = stage.get(&format!("/api/v1/gates/{gate}")).await.json();
    assert_eq!((&shown["satisfied"], &shown["satisfiedBy"]), (&json!(true), &json!("bob")));
    for forged in [
        json!({ "op": "add", "title": "A", "createdBy": "bob" }),
        json!({ "op": "make_gate", "gateType": "approval", "approvals": ["bob"] }),
    ] {
        let batch = json!({ "ops": [forged] });
        let ask = json!({ "work": { "ops": [forged], "by": "operator" } });
        for (path, body) in [("/api/v1/items/batch", batch), ("/api/v1/ask", ask)] {
            let refused = stage.bare("POST", path, &[("Authorization", &operator)], &body.to_string()).await;
            assert_eq!((refused.status, refused.code().as_str()), (403, "not_yourself"), "{path} {forged}");
        }
    }
}

#[tokio::test]
async fn a_gate_of_a_run_is_shown_with_what_somebody_must_know() {
    let stage = Stage::open().await;
    let flow = "flow: release\ninputs: { version: { type: string, default: v1 } }\ntasks:\n  build: { action: build }\n  \
                ask: { after: build, gate: { approval: { from: [alice, bob], count: 2 }, deadline: 2h } }\n";
    let run = stage.start(flow).await;
    let claim = json!({ "worker": "w", "actions": ["build"], "wait_ms": 10_000 });
    let lease = stage.post("/api/v1/work/claim", &claim).await.json()["leases"][0]["lease"].clone();
    stage.post("/api/v1/work/complete", &json!({ "results": [{ "lease": lease, "output": { "size": 7 } }] })).await;
    let body = json!({ "task": "ask", "comment": "fine" }).to_string();
    let yes = stage.ask("POST", &format!("/api/v1/runs/{run}/approve"), &[("Edgewise-As", "alice")], &body).await;
    assert_eq!(yes.status, 200, "{}", yes.text);
    let shown = stage.get(&format!("/api/v1/runs/{run}/gates/ask")).await.json();
    assert_eq!(shown["input"], json!({ "version": "v1" }));
    assert_eq!(
        (&shown["evidence"][0]["path"], &shown["evidence"][0]["output"]),
        (&json!("build"), &json!({ "size": 7 }))
    );
    assert_eq!((&shown["waits"]["approved"], &shown["waits"]["on_deadline"]), (&json!(["alice"]), &json!("reject")));
    assert_eq!((&shown["said"][0]["who"], &shown["said"][0]["why"]), (&json!("alice"), &json!("fine")));
    assert!(shown["waits"]["deadline"].is_string(), "{shown}");
    assert_eq!(stage.get(&format!("/api/v1/runs/{run}/gates/build")).await.code(), "not_a_gate");
    assert_eq!(stage.get(&format!("/api/v1/runs/{run}/gates/ask?tasks=none")).await.code(), "task_not_found");
}

#[tokio::test]
async fn gates_of_runs_and_of_items_are_listed_together() {
    let stage = Stage::open().await;
    let run = stage.start(GATED).await;
    let gate = gate(&stage, json!({ "gateType": "webhook" })).await;
    let listed = stage.get("/api/v1/gates").await.json();
    assert_eq!((&listed["gates"][0]["run"], &listed["gates"][1]["id"]), (&json!(run), &json!(gate)), "{listed}");
    let first = stage.get("/api/v1/gates?limit=1").await.json();
    let next = first["next"].as_str().unwrap();
    let second = stage.get(&format!("/api/v1/gates?limit=1&after={}", next.replace('/', "%2F"))).await.json();
    assert_eq!((&second["gates"][0]["id"], second.get("next")), (&json!(gate), None), "{second}");
    assert_eq!(stage.post(&format!("/api/v1/gates/{gate}/satisfy"), &json!({})).await.status, 200);
    assert_eq!(stage.get("/api/v1/gates").await.json()["gates"].as_array().unwrap().len(), 1);
    assert_eq!(stage.get("/api/v1/gates?all=true").await.json()["gates"].as_array().unwrap().len(), 2);
}

/// A run whose gate waits for a call, and what came is what it returns.
const CALLED: &str = "flow: called\ntasks:\n  hook: { gate: { webhook: {}, deadline: 2h } }\n  \
                      ticket: { gate: { external: { system: jira, id: 'ABC-1' } } }\n\
                      output: { hook: '${{ tasks.hook.output }}', ticket: '${{ tasks.ticket.output }}' }\n";

async fn address_of(stage: &Stage, run: &str, task: &str) -> String {
    let hook = stage.post(&format!("/api/v1/runs/{run}/gates/{task}/url"), &json!({ "expires": "7d" })).await;
    assert_eq!(hook.status, 200, "{}", hook.text);
    assert_eq!(hook.json()["gate"], json!(format!("{run}/{task}")));
    hook.json()["path"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_sent_to_the_address_of_a_runs_gate_is_its_output_and_a_replay_changes_nothing() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let stage = stage.speaking(&admin);
    let run = stage.start(CALLED).await;
    let path = address_of(&stage, &run, "hook").await;
    let gate = json!([format!("{run}/hook")]);
    let body = json!({ "build": 4711 }).to_string();
    let first = stage.bare("POST", &path, &[("webhook-id", "msg_1")], &body).await;
    assert_eq!((first.status, first.json()), (200, json!({ "gates": gate, "already": false })), "{}", first.text);
    let again = stage.bare("POST", &path, &[("webhook-id", "msg_1")], "something else").await;
    assert_eq!((again.status, again.json()), (200, json!({ "gates": gate, "already": true })), "{}", again.text);
    for headers in [vec![("webhook-id", "msg_2")], vec![]] {
        let used = stage.bare("POST", &path, &headers, &body).await;
        assert_eq!((used.status, used.code().as_str()), (409, "hook_used"), "{headers:?}");
    }
    let shown = stage.get(&format!("/api/v1/runs/{run}/gates/hook")).await.json();
    assert_eq!(shown["gate"]["output"], json!({ "build": 4711 }));
    assert_eq!(shown["said"][0]["who"], "webhook");
    let report = json!({ "externalSystem": "jira", "externalId": "ABC-1", "evidence": { "done": true } });
    let opened = stage.post("/api/v1/gates/external", &report).await;
    assert_eq!(opened.json(), json!({ "gates": [format!("{run}/ticket")], "already": false }), "{}", opened.text);
    assert_eq!(stage.post("/api/v1/gates/external", &report).await.code(), "gate_not_found", "nothing waits for it");
    let ended = stage.get(&format!("/api/v1/runs/{run}")).await.json();
    assert_eq!(ended["output"], json!({ "hook": { "build": 4711 }, "ticket": { "done": true } }), "{ended}");
}

#[tokio::test]
async fn an_address_of_a_runs_gate_is_good_for_that_gate_and_that_generation_alone() {
    let stage = Stage::open().await;
    let (run, other) = (stage.start(CALLED).await, stage.start(CALLED).await);
    let path = address_of(&stage, &run, "hook").await;
    let theirs = address_of(&stage, &other, "hook").await;
    let tag = |path: &str| path.rsplit_once('.').unwrap().1.to_owned();
    for (path, code) in [
        (path.replace(&tag(&path), &tag(&theirs)), "hook_not_found"),
        (path.replace(&run, &other), "hook_not_found"),
        (path.replace("~1.", "~2."), "hook_not_found"),
        (path.replace("/hooks/", "/starts/"), "hook_not_found"),
        (format!("/api/v1/hooks/run~{run}~0~1.99999999999999.00"), "hook_not_found"),
        ("/api/v1/hooks/run~~~.1.2".to_owned(), "hook_not_found"),
    ] {
        let answer = stage.post(&path, &json!({})).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, code), "{path}");
    }
    let large = stage.ask("POST", &path, &[], &"x".repeat(64 << 10)).await;
    assert_eq!((large.status, large.code().as_str()), (413, "body_too_large"));
    assert_eq!(stage.post(&format!("/api/v1/runs/{run}/gates/ticket/url"), &json!({})).await.code(), "wrong_gate");
    assert_eq!(stage.post(&format!("/api/v1/runs/{run}/gates/none/url"), &json!({})).await.code(), "task_not_found");
    let ticket = json!({ "task": "ticket", "output": { "by": "hand" } });
    assert_eq!(stage.post(&format!("/api/v1/runs/{run}/satisfy"), &ticket).await.status, 200);
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(stage.ask("POST", &path, &[("webhook-id", "m1")], &deep(65)).await.code(), "too_deep");
    assert_eq!(stage.ask("POST", &path, &[("webhook-id", "m1")], &deep(64)).await.status, 200);
    assert_eq!(stage.get(&format!("/api/v1/runs/{run}")).await.json()["phase"], "succeeded");
    let rerun = stage.post(&format!("/api/v1/runs/{run}/rerun"), &json!({})).await;
    assert_eq!(rerun.status, 200, "{}", rerun.text);
    let old = stage.ask("POST", &path, &[("webhook-id", "m2")], "{}").await;
    assert_eq!((old.status, old.code().as_str()), (409, "hook_used"), "the generation before is over");
    let again = stage.ask("POST", &path, &[("webhook-id", "m1")], "{}").await;
    assert_eq!((again.status, again.json()["already"].clone()), (200, json!(true)), "as the first time");
    let shown = stage.get(&format!("/api/v1/runs/{run}/gates/hook")).await.json();
    assert_eq!(shown["waits"]["webhook"], true, "the gate asks again");
    let path = address_of(&stage, &run, "hook").await;
    assert_eq!(stage.ask("POST", &path, &[("webhook-id", "m3")], "2").await.status, 200);
}

#[tokio::test]
async fn a_flow_says_which_tasks_are_shown_to_whoever_decides() {
    let stage = Stage::open().await;
    let flow = "flow: release\ntasks:\n  test: { gate: { timer: 0s } }\n  scan: { gate: { timer: 0s } }\n  \
                ask: { after: [scan], gate: { approval: {}, evidence: [test] } }\n";
    let run = stage.start(flow).await;
    let shown = |query: &str| {
        let path = format!("/api/v1/runs/{run}/gates/ask{query}");
        let stage = &stage;
        async move {
            let shown = stage.get(&path).await.json();
            let paths = shown["evidence"].as_array().unwrap().iter().map(|task| task["path"].clone());
            paths.collect::<Vec<_>>()
        }
    };
    assert_eq!(shown("").await, [json!("test")]);
    assert_eq!(shown("?tasks=scan").await, [json!("scan")]);
}
