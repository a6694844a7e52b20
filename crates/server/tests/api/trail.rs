//! The trail of who did what, and what is counted.

use crate::stage::{FLOW, Stage};
use edgewise_server::auth::Role;
use edgewise_server::routes::table;
use serde_json::{Value, json};

async fn lines(stage: &Stage, admin: &str) -> Vec<Value> {
    let headers = [("Authorization", admin)];
    let headers = if admin.is_empty() { &[] } else { &headers[..] };
    let answer = stage.ask("GET", "/api/v1/audit", headers, "").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["lines"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_people_change_is_in_the_trail_and_what_they_look_at_is_not() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let ann = format!("Bearer {}", stage.token("annabel", Role::Operator, None).await);
    let own = [("Authorization", ann.as_str())];
    let started = stage.ask("POST", "/api/v1/runs", &own, &json!({ "source": FLOW }).to_string()).await;
    let run = started.json()["run"].as_str().unwrap().to_owned();
    stage.ask("GET", &format!("/api/v1/runs/{run}"), &own, "").await;
    let cancel = format!("/api/v1/runs/{run}/cancel");
    stage.ask("POST", &cancel, &own, "{}").await;
    stage.ask("POST", &format!("/api/v1/runs/{run}/freeze"), &own, "{}").await;
    stage.ask("POST", "/api/v1/runs/0000000000000000/pause", &own, "{}").await;
    let told: Vec<(String, u64, String)> = lines(&stage, &admin)
        .await
        .iter()
        .map(|line| {
            assert_eq!(
                (&line["who"], &line["role"], &line["peer"]),
                (&json!("annabel"), &json!("operator"), &json!("127.0.0.1"))
            );
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            (text("route"), line["status"].as_u64().unwrap(), text("code"))
        })
        .collect();
    let expected = [
        ("start_run", 200, ""),
        ("cancel_run", 200, ""),
        ("freeze_run", 403, "not_permitted"),
        ("pause_run", 404, "run_not_found"),
    ];
    assert_eq!(told, expected.map(|(route, status, code)| (route.to_owned(), status, code.to_owned())));
    let all = lines(&stage, &admin).await;
    assert_eq!((&all[0]["made"], &all[1]["path"]), (&json!(run), &json!(cancel)));
}

#[tokio::test]
async fn refusals_and_the_talk_of_workers_are_counted_lines() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let worker = format!("Bearer {}", stage.token("worker", Role::Worker, None).await);
    for _ in 0..20 {
        stage.get("/api/v1/runs").await;
        let claim = json!({ "worker": "w", "actions": ["x"] }).to_string();
        stage.ask("POST", "/api/v1/work/claim", &[("Authorization", &worker)], &claim).await;
        assert_eq!(stage.ask("POST", "/api/v1/hooks/made-up.1.00", &[], "{}").await.status, 404);
    }
    let lines = lines(&stage, &admin).await;
    let times = |route: &str| -> Vec<u64> {
        lines.iter().filter(|line| line["route"] == route).map(|line| line["times"].as_u64().unwrap()).collect()
    };
    assert_eq!(times("list_runs"), [1, 19]);
    assert_eq!(times("claim_work"), [1, 19]);
    assert_eq!(times("deliver_hook"), [1, 19], "nobody in particular fills the trail");
    let metrics = stage.ask("GET", "/metrics", &[("Authorization", &admin)], "").await.text;
    assert!(metrics.contains("edgewise_refused_total{reason=\"no_token\"} 20\n"), "{metrics}");
}

#[tokio::test]
async fn whoever_hangs_up_before_the_answer_is_in_the_trail_all_the_same() {
    let stage = Stage::open().await;
    let body = json!({ "source": FLOW, "key": "once" }).to_string();
    let mut gone = 0;
    // Sooner or later the trail has it: nobody waits for the answer.
    while lines(&stage, "").await.is_empty() {
        stage.send_and_leave(&crate::stage::written("POST", "/api/v1/runs", &[], &body)).await;
        gone += 1;
        assert!(gone < 10_000);
    }
    assert_eq!(lines(&stage, "").await[0]["route"], "start_run");
}

#[tokio::test]
async fn what_waits_and_what_is_at_work_is_told_and_no_name_becomes_a_series() {
    let stage = Stage::open().await;
    stage.start(FLOW).await;
    let metrics = stage.get("/metrics").await.text;
    assert!(metrics.contains("edgewise_ready_tasks 1\n"), "{metrics}");
    let claim = json!({ "worker": "w", "actions": ["greet"] });
    assert_eq!(stage.post("/api/v1/work/claim", &claim).await.status, 200);
    let metrics = stage.get("/metrics").await.text;
    for line in ["edgewise_ready_tasks 0", "edgewise_leases_active 1", "edgewise_ready_to_start_seconds_count 1"] {
        assert!(metrics.lines().any(|found| found == line), "{line}: {metrics}");
    }
    assert!(!metrics.contains("edgewise_commit_seconds_count 0\n"));
    let names = metrics.lines().count();
    for n in 0..200 {
        stage.get(&format!("/api/v1/name-{n}")).await;
        stage.get(&format!("/api/v1/runs/name-{n}/why")).await;
        stage.post("/api/v1/work/claim", &json!({ "worker": format!("w{n}"), "actions": [format!("a{n}")] })).await;
    }
    let more = stage.get("/metrics").await.text.lines().count();
    // A route that was not asked before has its classes now; names of runs, workers and actions have nothing.
    assert!(more - names <= 12 * 3, "{names} lines became {more} of {} routes", table().len());
}
