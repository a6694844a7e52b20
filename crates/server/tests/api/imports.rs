//! Items that come in from elsewhere over the API.

use crate::stage::{Stage, ask};
use edgewise_server::auth::Role;
use serde_json::{Value, json};

const BEADS: &str = concat!(
    r#"{"id":"bd-1","title":"Epic","issue_type":"epic","priority":0}"#,
    "\n",
    r#"{"id":"bd-2","title":"First","issue_type":"bug","dependencies":[{"depends_on_id":"bd-1","type":"parent-child"},{"depends_on_id":"bd-3","type":"blocks"}]}"#,
    "\n",
    r#"{"id":"bd-3","title":"Second","status":"closed","issue_type":"task","close_reason":"shipped"}"#,
);
const ELEMENTS: &str = r#"{"id":"el-1","type":"task","title":"A","createdAt":"2025-01-09T12:00:00Z"}"#;
const BONDS: &str = r#"{"blockedId":"el-1","blockerId":"x","type":"awaits","metadata":{"gateType":"webhook"}}"#;
const ISSUES: &str = r#"[{"number":12,"title":"Crash","labels":[{"name":"bug"}]}]"#;
const PATH: &str = "/api/v1/items/import";

async fn ids(stage: &Stage) -> Vec<String> {
    let page = stage.get("/api/v1/items?status=open,closed&kinds=task,plan").await.json();
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    let mut ids: Vec<String> = items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn every_form_that_the_command_line_reads_is_brought_in() {
    let stage = Stage::open().await;
    for (texts, form, counts, ids) in [
        (json!([BEADS]), "beads", [3, 2, 0], json!(["bd-1", "bd-2", "bd-3"])),
        (json!([ELEMENTS, BONDS]), "quarry", [1, 1, 1], json!(["el-1"])),
        (json!([ISSUES]), "github", [1, 0, 0], json!(["gh-12"])),
    ] {
        let answer = stage.post(PATH, &json!({ "texts": texts })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let told = answer.json();
        assert_eq!([&told["items"], &told["dependencies"], &told["gates"]], counts.map(Value::from).each_ref());
        let expected = (&json!(form), &json!(false), &json!(false), &ids);
        assert_eq!((&told["form"], &told["dryRun"], &told["already"], &told["ids"]), expected);
    }
    assert_eq!(ids(&stage).await, ["bd-1", "bd-2", "bd-3", "el-1", "gh-12"]);
    assert_eq!(stage.get("/api/v1/items/bd-3").await.json()["closed"]["why"], "shipped");
}

#[tokio::test]
async fn what_one_server_exports_another_brings_in_as_it_was() {
    let (from, to) = (Stage::open().await, Stage::open().await);
    assert_eq!(from.post(PATH, &json!({ "texts": [BEADS] })).await.status, 200);
    let lines = from.get("/api/v1/items/export").await.text;
    let told = to.post(PATH, &json!({ "texts": [lines] })).await.json();
    assert_eq!((&told["form"], &told["items"]), (&json!("edgewise"), &json!(3)), "{told}");
    assert_eq!(to.get("/api/v1/items/export").await.text, lines);
}

#[tokio::test]
async fn a_dry_run_says_what_would_come_and_writes_nothing() {
    let stage = Stage::open().await;
    for texts in [json!([BEADS]), json!([r#"{"record":"item","id":"ew-a","title":"a"}"#])] {
        let told = stage.post(PATH, &json!({ "texts": texts, "dryRun": true })).await.json();
        assert_eq!(told["dryRun"], true, "{told}");
    }
    assert!(ids(&stage).await.is_empty());
}

#[tokio::test]
async fn what_cannot_come_in_is_refused_as_at_the_command_line_and_nothing_of_it_comes() {
    let stage = Stage::open().await;
    let first = r#"{"id":"bd-9","title":"a","issue_type":"task"}"#;
    let ring = r#"{"id":"bd-8","title":"b","dependencies":[{"depends_on_id":"bd-8","type":"blocks"}]}"#;
    stage.post(PATH, &json!({ "texts": [BEADS] })).await;
    for (texts, status, code) in [
        (json!([]), 400, "empty_import"),
        (json!(["{}"]), 400, "unknown_form"),
        (json!([first, "{\"issue_type\":1}"]), 400, "bad_import"),
        (json!([first, first]), 409, "duplicate_id"),
        (json!([first, BEADS]), 409, "id_taken"),
        (json!([first, ring]), 409, "cycle_detected"),
    ] {
        let refused = stage.post(PATH, &json!({ "texts": texts })).await;
        assert_eq!((refused.status, refused.code().as_str()), (status, code), "{}", refused.text);
        assert_eq!(ids(&stage).await.len(), 3, "{code}");
    }
    for body in [json!({}), json!({ "texts": ["{}"], "form": "jira" }), json!({ "texts": "{}" })] {
        assert_eq!(stage.post(PATH, &body).await.code(), "bad_body", "{body}");
    }
}

#[tokio::test]
async fn an_import_under_a_key_happens_once_also_at_a_server_that_remembers_nothing() {
    let stage = Stage::open().await;
    let body = json!({ "texts": [BEADS] }).to_string();
    let key = [("Idempotency-Key", "k1")];
    assert_eq!(stage.ask("POST", PATH, &key, &body).await.status, 200);
    let again = ask(stage.another_door().await, "POST", PATH, &key, &body).await;
    assert_eq!((again.status, &again.json()["items"]), (200, &json!(3)), "{}", again.text);
    let other = json!({ "texts": [ISSUES] }).to_string();
    let other = ask(stage.another_door().await, "POST", PATH, &key, &other).await;
    assert_eq!((other.status, other.code().as_str()), (409, "key_taken"), "{}", other.text);
}

#[tokio::test]
async fn only_an_admin_is_believed_about_what_others_did() {
    let stage = Stage::with(false).await;
    let admin = format!("Bearer {}", stage.token("root", Role::Admin, None).await);
    let operator = format!("Bearer {}", stage.token("operator", Role::Operator, None).await);
    let whole = r#"{"record":"item","id":"ew-a","title":"a","createdBy":"bob"}"#;
    let author = r#"[{"number":13,"title":"Theirs","author":{"login":"bob"}}]"#;
    for dry_run in [true, false] {
        for (text, code) in [(whole, "not_permitted"), (author, "not_yourself")] {
            let body = json!({ "texts": [text], "dryRun": dry_run }).to_string();
            let refused = stage.bare("POST", PATH, &[("Authorization", &operator)], &body).await;
            assert_eq!((refused.status, refused.code().as_str()), (403, code), "{}", refused.text);
        }
    }
    for (who, text) in [(&operator, ISSUES), (&admin, whole), (&admin, author)] {
        let body = json!({ "texts": [text] }).to_string();
        let taken = stage.bare("POST", PATH, &[("Authorization", who)], &body).await;
        assert_eq!(taken.status, 200, "{}", taken.text);
    }
}
