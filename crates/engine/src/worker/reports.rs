//! Reports on their way: what is finished is said until an answer decides it.
//!
//! One bundle is under way at a time. What the engine cannot take now is said again. What is too large for one commit is
//! said in halves, until the one report that is too large is alone; then its attempt has failed.

use crate::command::Finish;
use edgewise_core::event::Failure;
use edgewise_core::{Error, Kind};
use std::sync::Arc;

/// What there is to be said to the engine.
#[derive(Default)]
pub(super) struct Reports {
    /// Kept until an answer decides it.
    under_way: Option<Arc<[Finish]>>,
    /// What is said after that, the next one last.
    then: Vec<Arc<[Finish]>>,
}

/// What follows from an answer.
pub(super) enum Next {
    /// This is said.
    Say(Arc<[Finish]>),
    /// The same is said again, a little later.
    Again(Arc<[Finish]>),
    /// All was decided.
    Nothing,
}

impl Reports {
    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_none()
    }

    /// What is said until an answer decides it.
    pub fn under_way(&self) -> Option<Arc<[Finish]>> {
        self.under_way.clone()
    }

    /// Puts a bundle under way, or behind the one that is.
    pub fn begin(&mut self, bundle: Arc<[Finish]>) {
        match &self.under_way {
            Some(_) => self.then.insert(0, bundle),
            None => self.under_way = Some(bundle),
        }
    }

    /// The bundle under way was answered: it was decided, or refused for this reason.
    pub fn heard(&mut self, refused: Option<&Error>) -> Next {
        let Some(said) = self.under_way.take() else { return Next::Nothing };
        match refused.map(|error| (error.kind, error)) {
            // None of these says anything about the attempts.
            Some((Kind::Unavailable | Kind::Conflict | Kind::Corrupt | Kind::Bug, _)) => {
                self.begin(Arc::clone(&said));
                return Next::Again(said);
            }
            Some((Kind::Limit | Kind::Invalid, error)) => self.otherwise(&said, error),
            // Reports that did not count are about attempts that are over: there is nothing left to do.
            Some((Kind::NotFound | Kind::Denied | Kind::Stale, _)) | None => {}
        }
        let Some(next) = self.then.pop() else { return Next::Nothing };
        self.begin(Arc::clone(&next));
        Next::Say(next)
    }

    /// The engine cannot take these together: in halves most of them pass, and one that is alone has failed.
    fn otherwise(&mut self, said: &[Finish], error: &Error) {
        if let [one] = said {
            if one.outcome.is_ok() {
                let failure = Failure::permanent("output_refused", format!("the output could not be kept: {error}"));
                self.then.push([Finish { lease: one.lease, outcome: Err(failure) }].into());
            }
            return;
        }
        let (first, second) = said.split_at(said.len() / 2);
        self.then.extend([Arc::from(second), Arc::from(first)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::LeaseRef;
    use edgewise_core::event::TaskIx;
    use edgewise_core::id::{RunId, Token};

    fn finish(task: u32) -> Finish {
        let lease = LeaseRef { run: RunId(1), task: TaskIx(task), generation: 1, attempt: 1, token: Token(1) };
        Finish { lease, outcome: Ok(None) }
    }

    /// What is said of these tasks, bundle by bundle, to an engine that answers so; `!` is said of what failed.
    fn check(tasks: u32, mut answer: impl FnMut(&[u32]) -> Option<Error>, expected: &[&str]) {
        let (mut reports, mut told) = (Reports::default(), Vec::new());
        let mut bundle: Arc<[Finish]> = (1..=tasks).map(finish).collect();
        reports.begin(Arc::clone(&bundle));
        loop {
            let one = |f: &Finish| format!("{}{}", f.lease.task.0, if f.outcome.is_err() { "!" } else { "" });
            told.push(bundle.iter().map(one).collect::<Vec<_>>().join(" "));
            // What failed is small.
            let large: Vec<u32> = bundle.iter().filter(|f| f.outcome.is_ok()).map(|f| f.lease.task.0).collect();
            match reports.heard(answer(&large).as_ref()) {
                Next::Say(next) | Next::Again(next) => bundle = next,
                Next::Nothing => break,
            }
        }
        assert!(reports.is_empty());
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_not_decided_is_said_again_and_what_is_decided_is_not() {
        for kind in [Kind::Unavailable, Kind::Conflict, Kind::Corrupt, Kind::Bug] {
            let mut troubles = 2;
            let answer = |_: &[u32]| {
                troubles -= 1;
                (troubles >= 0).then(|| Error::new(kind, "trouble", ""))
            };
            check(2, answer, &["1 2", "1 2", "1 2"]);
        }
        check(2, |_| None, &["1 2"]);
        for kind in [Kind::NotFound, Kind::Denied, Kind::Stale] {
            check(2, |_| Some(Error::new(kind, "decided", "")), &["1 2"]);
        }
    }

    #[test]
    fn what_is_too_large_is_said_in_halves_until_the_one_at_fault_is_alone_and_fails() {
        let most = |most: usize| move |tasks: &[u32]| (tasks.len() > most).then(|| Error::limit("row_too_large", ""));
        check(4, most(2), &["1 2 3 4", "1 2", "3 4"]);
        check(3, most(1), &["1 2 3", "1", "2 3", "2", "3"]);
        let third = |tasks: &[u32]| tasks.contains(&3).then(|| Error::limit("row_too_large", ""));
        check(4, third, &["1 2 3 4", "1 2", "3 4", "3", "3!", "4"]);
        // Not even the failure can be kept: there is nothing left to say.
        check(1, |_| Some(Error::limit("row_too_large", "")), &["1", "1!"]);
    }
}
