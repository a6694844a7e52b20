use super::*;
use edgewise_core::plan::OutputForm;
use serde_json::json;
use std::io::Write;

const SEAL: &str = "seal-1:";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn here() -> Secrets {
    Secrets::new(|name| (name == "EDGEWISE_SECRET_TOKEN").then(|| "s3cret-value".to_owned()), None)
}

fn names(all: &[&str]) -> Sealed {
    Sealed { seal: SEAL.into(), names: all.iter().map(|text| name(text)).collect() }
}

#[test]
fn sealed_names_become_values_wherever_they_stand() {
    let mut job =
        Job::Action { action: name("a"), input: json!({"auth": ["Bearer seal-1:TOKEN;", 1], "seal-1:X;": "x"}) };
    here().open(&names(&["TOKEN"]), &mut job).unwrap();
    let Job::Action { input, .. } = job else { panic!("{job:?}") };
    assert_eq!(input, json!({"auth": ["Bearer s3cret-value", 1], "seal-1:X;": "x"}));
    let env = vec![("A".to_owned(), "seal-1:TOKEN;".to_owned()), ("B".to_owned(), "seal-2:TOKEN;".to_owned())];
    let mut job = Job::Command { script: "true".into(), env, output: OutputForm::Text };
    here().open(&names(&["TOKEN"]), &mut job).unwrap();
    let Job::Command { env, .. } = job else { panic!("{job:?}") };
    assert_eq!(env[0].1, "s3cret-value");
    assert_eq!(env[1].1, "seal-2:TOKEN;", "a seal that somebody made up opens nothing");
}

#[test]
fn a_secret_without_a_value_says_where_it_could_come_from() {
    let mut job = Job::Command { script: "true".into(), env: Vec::new(), output: OutputForm::Text };
    let failure = here().open(&names(&["OTHER"]), &mut job).unwrap_err();
    assert_eq!(failure.kind, "secret_missing");
    assert!(
        failure.message.contains("EDGEWISE_SECRET_OTHER") && failure.message.contains("secrets_file"),
        "{failure:?}"
    );
    let short = Secrets::new(|_| Some("abc".to_owned()), None);
    assert_eq!(short.open(&names(&["S"]), &mut job).unwrap_err().kind, "secret_too_short");
}

#[test]
fn a_file_holds_what_the_environment_does_not() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "# ours\nTOKEN=from-file\nOTHER = a=b=c\n").unwrap();
    let secrets = Secrets { file: Some(file.path().to_owned()), ..here() };
    assert_eq!(secrets.find(&name("OTHER")).unwrap(), "a=b=c");
    assert_eq!(secrets.find(&name("TOKEN")).unwrap(), "s3cret-value", "the environment goes first");
    assert_eq!(secrets.find(&name("NONE")).unwrap_err().kind, "secret_missing");
    let gone = Secrets { file: Some("/nowhere/secrets".into()), ..here() };
    assert_eq!(gone.find(&name("OTHER")).unwrap_err().kind, "secrets_unreadable");
}

#[test]
fn nothing_that_comes_back_holds_a_value() {
    let masks = Masks::of(["s3cret".to_owned(), "s3cret-longer".to_owned(), "two\nlines".to_owned()].into_iter());
    assert_eq!(masks.mask("a s3cret-longer s3cret, lines"), "a *** ***, ***");
    let output = RawValue::from_string(r#"{"s3cret":["x s3cret",1]}"#.to_owned()).unwrap();
    let masked = masks.outcome(Ok(Some(output))).unwrap().unwrap();
    assert_eq!(masked.get(), r#"{"***":["x ***",1]}"#);
    let cause = Failure::new("s3cret", "s3cret");
    let failure = Failure { cause: Some(Box::new(cause)), is: vec!["s3cret".into()], ..Failure::new("k", "m s3cret") };
    let masked = masks.outcome(Err(failure)).unwrap_err();
    assert!(!format!("{masked:?}").contains("s3cret"), "{masked:?}");
    assert!(!format!("{masks:?} {:?}", here()).contains("s3cret"));
}
