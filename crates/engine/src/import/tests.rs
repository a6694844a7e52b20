//! Each form becomes the same few operations.

use super::*;
use edgewise_core::work::{Op, Status};

fn ops(texts: &[&str], form: Form) -> Vec<Op> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let (found, draft) = read(&texts, None).unwrap();
    assert_eq!(found, form);
    draft.ops()
}

/// The operations in short: `add bd-1 1`, `bd-2 blocks bd-1`, `close bd-1`.
fn short(ops: &[Op]) -> Vec<String> {
    let one = |op: &Op| match op {
        Op::Add(add) => format!("add {} {}", add.id.as_ref().unwrap(), add.priority.unwrap_or(3)),
        Op::Depend(one) => format!("{} {} {}", one.id, one.kind.unwrap().name(), one.on.as_deref().unwrap()),
        Op::Close(close) => format!("close {} {:?}", close.id, close.how),
        Op::Update { id, change } => format!("{id} is {:?}", change.status.unwrap_or(Status::Open)),
        Op::MakeGate { name, .. } => format!("gate {}", name.as_deref().unwrap()),
        Op::Satisfy(act) => format!("satisfy {}", act.id),
        other => format!("{other:?}"),
    };
    ops.iter().map(one).collect()
}

#[test]
fn beads_issues_keep_their_ids_and_priorities_begin_at_one() {
    let text = concat!(
        r#"{"id":"bd-1","title":"Epic","status":"open","priority":0,"issue_type":"epic","created_at":"2025-01-09T12:00:00Z"}"#,
        "\n",
        r#"{"id":"bd-1.1","title":"Child","status":"blocked","issue_type":"bug","labels":["good first issue"],"dependencies":[{"issue_id":"bd-1.1","depends_on_id":"bd-1","type":"parent-child"},{"issue_id":"bd-1.1","depends_on_id":"bd-2","type":"blocks"},{"issue_id":"bd-1.1","depends_on_id":"bd-3","type":"discovered-from"},{"issue_id":"bd-1.1","depends_on_id":"bd-4","type":"blocks"}]}"#,
        "\n",
        r#"{"id":"bd-2","title":"Done","status":"closed","priority":4,"close_reason":"shipped"}"#,
        "\n",
        r#"{"id":"bd-3","title":"Doing","status":"in_progress"}"#,
        "\n",
        r#"{"id":"bd-4","title":"Gone","status":"tombstone"}"#,
        "\n",
    );
    let expected = [
        "add bd-1 1",
        "add bd-1.1 3",
        "add bd-2 5",
        "add bd-3 3",
        "bd-1.1 parent-child bd-1",
        "bd-1.1 blocks bd-2",
        "bd-1.1 caused-by bd-3",
        "bd-3 is InProgress",
        "close bd-2 Done",
    ];
    assert_eq!(short(&ops(&[text], Form::Beads)), expected);
}

#[test]
fn quarry_files_of_both_ages_say_who_waits() {
    let elements = concat!(
        r#"{"id":"el-1","type":"task","title":"A","status":"open","priority":2,"createdAt":"2025-01-09T12:00:00Z"}"#,
        "\n",
        r#"{"id":"el-2","type":"plan","title":"P","status":"cancelled","createdAt":"2025-01-09T12:00:00Z"}"#,
        "\n",
        r#"{"id":"el-3","type":"task","title":"Gone","status":"tombstone"}"#,
        "\n",
    );
    let newer = concat!(
        r#"{"blockedId":"el-1","blockerId":"el-2","type":"blocks"}"#,
        "\n",
        r#"{"blockedId":"el-1","blockerId":"el-3","type":"blocks"}"#,
        "\n",
        r#"{"blockedId":"el-1","blockerId":"x","type":"awaits","metadata":{"gateType":"external","externalSystem":"ci","externalId":"7","satisfied":true}}"#,
    );
    let expected = [
        "add el-1 2",
        "add el-2 3",
        "gate gate1",
        "el-1 blocks el-2",
        "el-1 awaits $gate1",
        "satisfy $gate1",
        "close el-2 Cancelled",
    ];
    assert_eq!(short(&ops(&[elements, newer], Form::Quarry)), expected);
    let older = r#"{"sourceId":"el-1","targetId":"el-2","type":"blocks"}"#;
    assert!(short(&ops(&[elements, older], Form::Quarry)).contains(&"el-1 blocks el-2".to_owned()));
}

#[test]
fn issues_of_github_become_items_of_their_number() {
    let text = r#"[{"number":12,"title":"Crash","state":"OPEN","labels":[{"name":"bug"},{"name":"P0"}],"assignees":[{"login":"ann"}],"url":"https://x/12"},
        {"number":13,"title":"Old","state":"CLOSED","stateReason":"NOT_PLANNED"}]"#;
    let ops = ops(&[text], Form::Github);
    assert_eq!(short(&ops), ["add gh-12 1", "add gh-13 3", "close gh-13 Cancelled"]);
    let Op::Add(add) = &ops[0] else { panic!("{ops:?}") };
    assert_eq!((add.assignee.as_ref().unwrap().as_str(), add.external_ref.as_deref()), ("ann", Some("https://x/12")));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_line() {
    for (text, code, said) in [
        ("", "empty_import", "nothing"),
        ("{}", "unknown_form", "looks like"),
        ("{\"issue_type\":\"bug\"}", "bad_import", "line 1: an issue without an `id`"),
        ("{\"id\":\"bd-1\",\"issue_type\":\"bug\"}", "bad_import", "no `title`"),
        ("{\"record\":\"thing\"}", "bad_import", "is no record"),
        ("\n{x", "bad_import", "line 2"),
        ("[1]", "bad_import", "expected a JSON object"),
        (
            "{\"id\":\"bd-1\",\"title\":\"a\",\"issue_type\":\"bug\"}\n{\"id\":\"bd-1\",\"title\":\"b\"}",
            "duplicate_id",
            "is there twice",
        ),
        (
            "{\"blockedId\":\"a\",\"blockerId\":\"b\",\"type\":\"blox\"}",
            "bad_import",
            "line 1: \"blox\" is no type of dependency",
        ),
        (
            "{\"blockedId\":\"a\",\"blockerId\":\"b\",\"type\":\"awaits\",\"metadata\":{\"gateType\":\"timer\"}}",
            "bad_import",
            "no `waitUntil`",
        ),
    ] {
        let error = read(&[text.to_owned()], None).unwrap_err();
        assert_eq!(error.code, code, "{text}: {error:?}");
        assert!(error.message.contains(said), "{text}: {}", error.message);
    }
}
