//! What is said is understood, and nothing else.

use super::*;
use edgewise_core::flow::compile;

fn start(input: &str) -> Start {
    let plan = compile("flow: f\ntasks:\n  a: { run: 'echo \"hi\"' }\n", "f.yaml").unwrap().plan;
    let input = RawValue::from_string(input.into()).unwrap();
    let labels = BTreeMap::from([("env".to_owned(), "test".to_owned())]);
    Start {
        plan: Arc::new(plan),
        children: Vec::new(),
        input,
        by: Name::parse("ada").unwrap(),
        key: Some("k".into()),
        labels,
    }
}

#[test]
fn a_start_arrives_as_it_was_sent() {
    let sent = start("{\n \"a\": [1,\n2]}");
    let line = encode(&Request { v: VERSION, id: 3, ask: Ask::Start(sent.clone()) }).unwrap();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one line, whatever the input looks like");
    let Request { id: 3, ask: Ask::Start(heard), .. } = serde_json::from_slice(&line).unwrap() else { panic!() };
    assert_eq!((&*heard.plan, &heard.key, &heard.labels), (&*sent.plan, &sent.key, &sent.labels));
    assert_eq!(heard.plan.encode(), sent.plan.encode(), "the plan keeps its hash");
    assert_eq!(heard.input.get().replace(' ', ""), "{\"a\":[1,2]}");
}

#[test]
fn an_error_arrives_with_its_kind_and_code() {
    for (kind, code, heard) in [
        (Kind::NotFound, "run_not_found", "run_not_found"),
        (Kind::Unavailable, "Not A Code", "engine_refused"),
        (Kind::Bug, "", "engine_refused"),
    ] {
        let refusal = Refusal { kind, code: code.into(), message: "m".into() };
        let line = serde_json::to_string(&Response { error: Some(refusal), ..Response::default() }).unwrap();
        let Response { error: Some(refusal), .. } = serde_json::from_str(&line).unwrap() else { panic!() };
        let error = Error::from(refusal);
        assert_eq!((error.kind, error.code, error.message.as_str()), (kind, heard, "m"));
    }
}

#[test]
fn the_words_on_the_wire_are_fixed() {
    let said = |response: &Response| serde_json::to_string(response).unwrap();
    assert_eq!(said(&Response::to(1, Ok(Said::Done))), r#"{"id":1,"ok":"done"}"#);
    assert_eq!(said(&Response::to(2, Ok(Said::Ended(RunState::Complete)))), r#"{"id":2,"ok":{"ended":"Complete"}}"#);
    assert_eq!(said(&Response::bye(7)), r#"{"bye":7}"#);
    let refused = Response::to(3, Err(Error::denied("no", "not you")));
    assert_eq!(said(&refused), r#"{"id":3,"error":{"kind":"denied","code":"no","message":"not you"}}"#);
    let asked = Request { v: 1, id: 7, ask: Ask::Wait(RunId(5)) };
    assert_eq!(serde_json::to_string(&asked).unwrap(), r#"{"v":1,"id":7,"ask":{"wait":"0000000000000005"}}"#);
}

#[test]
fn only_what_can_be_asked_twice_is_asked_twice() {
    assert!(Ask::Start(start("{}")).is_repeatable(), "its key makes it one run");
    assert!(!Ask::Start(Start { key: None, ..start("{}") }).is_repeatable());
    assert!(Ask::Wait(RunId(1)).is_repeatable());
    let (run, from, by) = (RunId(1), crate::command::RerunOf::Failure, Name::parse("ada").unwrap());
    assert!(!Ask::Rerun(Rerun { run, from, by, why: None }).is_repeatable(), "it may have failed again since");
}

#[tokio::test]
async fn lines_are_read_one_by_one_until_the_end() {
    let mut from = &b"one\n\ntwo\nrest"[..];
    let mut buffer = Vec::new();
    for line in ["one", "", "two"] {
        assert_eq!(read_line(&mut from, &mut buffer, 4).await, Read::Line(line.into()));
    }
    assert_eq!(read_line(&mut from, &mut buffer, 4).await, Read::End, "half a line is none");
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    assert_eq!(read_line(&mut &b"four!\n"[..], &mut Vec::new(), 4).await, Read::TooLong);
    assert_eq!(read_line(&mut &b"!\n"[..], &mut b"four".to_vec(), 4).await, Read::TooLong);
}
