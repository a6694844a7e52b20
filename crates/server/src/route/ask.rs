//! The door of a folder's engine, from elsewhere: what goes over its socket and what is read off its store, over HTTP.
//!
//! The command line uses it, so that every command works on a server as in a folder. Who asks is who the token says,
//! never who the request says; what they must be trusted with stands here for each thing that can be asked.

mod needs;

use super::{item, run};
use crate::app::App;
use crate::audit::Made;
use crate::auth::{Kept, PREFIX, Principal, Role};
use crate::body::Json;
use crate::guard;
use crate::idempotency::OwnKey;
use crate::limits;
use crate::problem::Result;
use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use edgewise_core::Error;
use edgewise_core::control::Setting;
use edgewise_core::name::Name;
use edgewise_engine::folder::{Ask, Said, Stay, answer};
use edgewise_engine::queues;
use edgewise_engine::reader::Peek;
use edgewise_engine::work::Ops;
use needs::needs;
use serde_json::Value;
use serde_json::value::RawValue;

pub async fn ask(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    OwnKey(own): OwnKey,
    headers: HeaderMap,
    Json(mut ask): Json<Ask>,
) -> Result<(Extension<Made>, Json<Said>)> {
    guard::permit(&who, needs(&ask))?;
    if let Ask::Work(work) = &ask {
        item::check_authors(&work.ops, &who)?;
    }
    let what = Extension(Made(what(&ask)));
    if let Some(by) = ask.by() {
        by.clone_from(&who.name);
    }
    if let Ask::Start(start) = &mut ask {
        run::traced(&headers, &mut start.labels);
    }
    let ask = named_by(own, ask);
    let said = tokio::time::timeout(limits::WAIT, answer(app.engine(), ask, &Stay::in_background())).await;
    let late = || Error::unavailable("still_running", "it has not ended yet: ask again");
    Ok((what, Json(said.map_err(|_| late())??)))
}

/// What has no key of its own has that of its request, as at the routes for it.
fn named_by(own: Option<String>, ask: Ask) -> Ask {
    match ask {
        Ask::Start(start) => Ask::Start(run::named_by(own, start)),
        Ask::Work(work) => {
            let own = own.filter(|_| item::can_be_forgotten(&work.ops));
            Ask::Work(Ops { key: work.key.or(own), ..work })
        }
        other => other,
    }
}

/// What is asked, for the trail: the word for it, and the run, the task or the queue that it is about.
fn what(ask: &Ask) -> String {
    match serde_json::to_value(ask) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(asked)) => {
            let about = |body: &Value| {
                let named = ["run", "task", "queue"]
                    .iter()
                    .filter_map(|key| body.get(key)?.as_str().map(|text| format!(" {text}")));
                named.collect::<String>()
            };
            asked.iter().map(|(word, body)| format!("{word}{}", about(body))).collect()
        }
        _ => String::new(),
    }
}

pub async fn look(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(peek): Json<Peek>,
) -> Result<Json<Box<RawValue>>> {
    let keep = move |key: &Name, setting: &mut Setting| may_be_sent(who.role, key, setting);
    let text = app.readers().look(move |reader| reader.peek(&peek, &keep)).await?;
    let unreadable = |error| Error::bug("unprintable", "an answer is no JSON").with_source(error);
    Ok(Json(RawValue::from_string(text).map_err(unreadable)?))
}

/// Settings may hold what nobody is to read: they stay here. Of tokens those who make them see all but the hash.
fn may_be_sent(role: Role, key: &Name, setting: &mut Setting) -> bool {
    // What queues are set to is listed for everybody who may look.
    if key.starts_with(queues::SETTING) {
        return true;
    }
    if role != Role::Admin || !key.starts_with(PREFIX) {
        return false;
    }
    // Of one that cannot be read only that it is there.
    let kept = serde_json::from_value::<Kept>(setting.value.clone()).ok();
    let bare = serde_json::to_value(kept.map(|kept| Kept { hash: String::new(), ..kept }));
    bare.map(|value| setting.value = value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use edgewise_core::id::RunId;
    use edgewise_core::time::Time;
    use edgewise_engine::command::RunAct;
    use serde_json::json;

    #[test]
    fn the_trail_says_what_was_asked_and_about_which_run() {
        let by = Name::parse("ann").unwrap();
        let cancel = Ask::Cancel(RunAct { run: RunId(7), by, why: None });
        assert_eq!(what(&cancel), format!("cancel {}", RunId(7)));
        assert_eq!(what(&Ask::Ping), "ping");
    }

    fn check(role: Role, key: &str, value: Value, sent: Option<&Value>) {
        let (key, by) = (Name::parse(key).unwrap(), Name::parse("ann").unwrap());
        let mut setting = Setting { value, by, at: Time(1), why: None };
        let kept = may_be_sent(role, &key, &mut setting).then_some(setting.value);
        assert_eq!(kept.as_ref(), sent, "{role:?} {key}");
    }

    #[test]
    fn no_hash_and_no_setting_that_is_not_known_to_be_harmless_leaves() {
        let token = json!({ "hash": "secret", "role": "viewer" });
        check(Role::Admin, "token/ann", token.clone(), Some(&json!({ "hash": "", "role": "viewer" })));
        check(Role::Operator, "token/ann", token.clone(), None);
        check(Role::Admin, "webhook/ann", json!({ "secret": "x" }), None);
        check(Role::Admin, "token/ann", json!("not a token"), Some(&Value::Null));
        check(Role::Operator, "token/ann", json!("not a token"), None);
    }
}
