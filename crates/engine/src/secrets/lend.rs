//! Lending: secrets that may be given to workers elsewhere, because whoever runs the server said so.
//!
//! What such a worker reports is masked here, when it comes: it cannot be trusted to do so itself. A report may come
//! after a restart, or after the value was changed. So it is not asked which secrets its task was given: every value
//! that may be lent now, and every one that was lent since the start, is masked in every report.

use super::{Masks, Secrets};
use crate::command::{Grant, Outcome};
use edgewise_core::event::Failure;
use edgewise_core::name::Name;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Most values that are remembered; the secrets of a server do not change that often.
const REMEMBERED: usize = 10_000;

/// Which secrets may be lent. Cloning gives another handle. By default none.
#[derive(Clone, Default)]
pub struct Lending {
    secrets: Secrets,
    names: Arc<BTreeSet<Name>>,
    lent: Arc<Mutex<BTreeSet<String>>>,
}

impl Lending {
    /// These may be, with the values that are found there.
    pub fn new(secrets: Secrets, names: impl IntoIterator<Item = Name>) -> Self {
        Self { secrets, names: Arc::new(names.into_iter().collect()), lent: Arc::default() }
    }

    /// Puts values into a grant, or says why the attempt fails instead.
    pub fn lend(&self, grant: &mut Grant) -> Result<(), Failure> {
        let Some(sealed) = &grant.sealed else { return Ok(()) };
        if let Some(kept) = sealed.names.iter().find(|name| !self.names.contains(*name)) {
            let why = format!("{kept} is not named there: add it to `send_secrets` in the server's edgewise.toml");
            return Err(not_sent(&why));
        }
        let masks = self.secrets.open(sealed, &mut grant.work)?;
        let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
        if lent.len() < REMEMBERED {
            lent.extend(masks.0.iter().cloned());
        }
        grant.sealed = None;
        Ok(())
    }

    /// What reports are masked with now.
    pub fn masks(&self) -> Masks {
        if self.names.is_empty() {
            return Masks::default();
        }
        // One that has no value now has none to be found in a report.
        let now = self.names.iter().filter_map(|name| self.secrets.find(name).ok());
        let lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Masks::of(now.chain(lent))
    }
}

impl Masks {
    /// What somebody elsewhere reported, without secrets.
    pub fn reported(&self, outcome: Outcome) -> Outcome {
        self.outcome(outcome)
    }
}

/// A secret that stays here.
pub fn not_sent(why: &str) -> Failure {
    let message = format!(
        "this task is given a secret, and secrets only leave the server where it is told to send them ({why}). Or let \
         the worker read its own secrets"
    );
    Failure::permanent("secret_not_sent", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Job, LeaseRef};
    use crate::secrets::Sealed;
    use edgewise_core::event::TaskIx;
    use edgewise_core::id::{RunId, Token};
    use edgewise_core::run::sealed;
    use serde_json::json;
    use serde_json::value::RawValue;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// A grant of a task that is given this secret.
    fn grant(secret: &str) -> Grant {
        let (seal, names) = ("seal:".to_owned(), vec![name(secret)]);
        let input = json!({ "key": sealed(&seal, &names[0]) });
        let lease = LeaseRef { run: RunId(1), task: TaskIx(0), generation: 1, attempt: 1, token: Token(1) };
        let work = Job::Action { action: name("a"), input };
        let (path, sealed) = ("a".into(), Some(Sealed { seal, names }));
        Grant { lease, path, max_attempts: 1, work, sealed, deadline: None, trace: None }
    }

    fn reported(lending: &Lending, output: &str) -> String {
        let output = RawValue::from_string(output.into()).unwrap();
        lending.masks().reported(Ok(Some(output))).unwrap().unwrap().get().to_owned()
    }

    #[test]
    fn only_what_is_named_is_lent_and_the_others_are_said_to_stay() {
        let lending = Lending::new(Secrets::new(|_| Some("very-secret".into()), None), [name("KEY")]);
        let mut lent = grant("KEY");
        lending.lend(&mut lent).unwrap();
        let Job::Action { input, .. } = &lent.work else { panic!("{lent:?}") };
        assert_eq!((input, lent.sealed.is_none()), (&json!({ "key": "very-secret" }), true));
        for lending in [lending, Lending::default()] {
            let refused = lending.lend(&mut grant("OTHER")).unwrap_err();
            assert_eq!((refused.kind.as_str(), refused.retryable), ("secret_not_sent", false));
            assert!(refused.message.contains("OTHER") && refused.message.contains("send_secrets"), "{refused:?}");
        }
    }

    #[test]
    fn what_was_lent_is_masked_in_reports_also_after_it_was_changed_or_the_server_restarted() {
        let value = Arc::new(Mutex::new("before".to_owned()));
        let now = Arc::clone(&value);
        let secrets = Secrets::new(move |_| Some(now.lock().unwrap().clone()), None);
        let lending = Lending::new(secrets.clone(), [name("KEY")]);
        lending.lend(&mut grant("KEY")).unwrap();
        *value.lock().unwrap() = "afterwards".into();
        assert_eq!(reported(&lending, "[\"before and afterwards\"]"), "[\"*** and ***\"]");
        let restarted = Lending::new(secrets, [name("KEY")]);
        assert_eq!(reported(&restarted, "{\"afterwards\":1}"), "{\"***\":1}");
        assert_eq!(reported(&Lending::default(), "[\"afterwards\"]"), "[\"afterwards\"]");
    }
}
