//! What follows from what a push worker answered, or from its silence: pure.

use crate::route::work::outcome;
use edgewise_client::wire::PushAnswer;
use edgewise_core::event::Failure;
use edgewise_core::time::Millis;
use edgewise_engine::command::Outcome;
use edgewise_engine::http::{Called, Missed};

/// What was heard of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Heard {
    /// An answer.
    Answer(Called),
    /// None that can be used.
    Missed(Missed),
    /// Nothing for so long.
    Silence(Millis),
}

/// What to do about it.
#[derive(Debug)]
pub(super) enum Next {
    /// Report this.
    Finish(Outcome),
    /// The worker has it, and reports by itself.
    Accepted,
    /// It was not begun: the lease goes back, and the worker is left alone.
    GiveBack(String, Option<Millis>),
    /// The same, and the worker wants no more at all.
    Gone,
    /// The attempt has failed, and the worker is left alone.
    Fail(Failure),
}

/// Judges what was heard of a lease.
pub(super) fn judge(heard: Heard, lease: &str) -> Next {
    match heard {
        Heard::Answer(Called { status: 200, body, .. }) => answered(&body, lease),
        Heard::Answer(Called { status: 202, .. }) => Next::Accepted,
        Heard::Answer(Called { status: 410, .. }) => Next::Gone,
        Heard::Answer(Called { status: status @ (429 | 503), retry_after, .. }) => {
            Next::GiveBack(format!("the answer was {status}"), retry_after)
        }
        Heard::Answer(Called { status, .. }) => {
            let message = format!("the push worker answered {status}: 200 with a result or 202 was expected");
            let is = vec![format!("http_{status}"), format!("http_{}xx", status / 100), FAILED.into()];
            Next::Fail(Failure { is, ..Failure::new("push_status", message) })
        }
        Heard::Missed(Missed::Unreached(why)) => Next::GiveBack(why, None),
        Heard::Missed(Missed::BrokenOff(why)) => {
            Next::Fail(failed("push_broken_off", format!("the push worker gave no whole answer: {why}")))
        }
        Heard::Missed(Missed::TooLarge(most)) => bad_answer(&format!("it has more than {most} bytes")),
        Heard::Silence(span) => {
            Next::Fail(failed("push_timeout", format!("the push worker did not answer within {span}")))
        }
    }
}

/// What all failures of calls are besides their own type.
const FAILED: &str = "push_failed";

fn failed(kind: &str, message: String) -> Failure {
    Failure { is: vec![FAILED.into()], ..Failure::new(kind, message) }
}

fn bad_answer(why: &str) -> Next {
    let message = format!(
        "the answer of the push worker cannot be used ({why}): send {{\"output\": …}} or {{\"error\": {{\"type\": …}}}}"
    );
    Next::Fail(failed("push_bad_answer", message))
}

fn answered(body: &[u8], lease: &str) -> Next {
    // A list would be read as the fields in their order.
    if !body.trim_ascii_start().starts_with(b"{") {
        return bad_answer("it is no JSON object");
    }
    let answer: PushAnswer = match serde_json::from_slice(body) {
        Ok(answer) => answer,
        Err(error) => return bad_answer(&error.to_string()),
    };
    if answer.lease.as_ref().is_some_and(|of| of != lease) {
        return bad_answer("its lease is not the one that was sent");
    }
    outcome(answer.output, answer.error).map_or_else(|error| bad_answer(&error.message), Next::Finish)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(heard: Heard, expected: &str) {
        let text = format!("{heard:?}");
        let found = match judge(heard, "mine") {
            Next::Finish(Ok(output)) => format!("output {}", output.map_or("none".into(), |o| o.get().to_owned())),
            Next::Finish(Err(failure)) => format!("error {} {}", failure.kind, failure.retryable),
            Next::Accepted => "accepted".into(),
            Next::GiveBack(_, asked) => format!("back {}", asked.map_or(0, |span| span.0)),
            Next::Gone => "gone".into(),
            Next::Fail(failure) => {
                assert!(failure.retryable && failure.is.iter().any(|is| is == FAILED), "{failure:?}");
                format!("fail {}", failure.kind)
            }
        };
        assert_eq!(found, expected, "{text}");
    }

    fn says(body: &str) -> Heard {
        Heard::Answer(Called { status: 200, retry_after: None, body: body.into() })
    }

    fn status(status: u16) -> Heard {
        Heard::Answer(Called { status, retry_after: None, body: Vec::new() })
    }

    #[test]
    fn an_answer_of_200_is_the_report_if_it_can_be_read() {
        check(says("{\"output\": {\"a\": 1}}"), "output {\"a\": 1}");
        check(says("{\"lease\": \"mine\"}"), "output none");
        check(says("{}"), "output none");
        check(says("{\"error\": {\"type\": \"down\"}}"), "error down true");
        check(says("{\"error\": {\"type\": \"down\", \"permanent\": true}}"), "error down false");
        for bad in ["", "ok", "[]", "null", "{\"outptu\": 1}", "{\"lease\": \"other\"}", "{\"error\": \"down\"}"] {
            check(says(bad), "fail push_bad_answer");
        }
        check(says("{\"output\": 1, \"error\": {\"type\": \"down\"}}"), "fail push_bad_answer");
    }

    #[test]
    fn nothing_is_spent_where_it_is_certain_that_nothing_began() {
        check(status(202), "accepted");
        check(status(410), "gone");
        check(status(429), "back 0");
        check(Heard::Answer(Called { status: 503, retry_after: Some(Millis(7)), body: Vec::new() }), "back 7");
        check(Heard::Missed(Missed::Unreached("no connection".into())), "back 0");
        for other in [201, 204, 301, 307, 400, 401, 404, 500, 502, 504] {
            check(status(other), "fail push_status");
        }
        check(Heard::Missed(Missed::BrokenOff("reset".into())), "fail push_broken_off");
        check(Heard::Missed(Missed::TooLarge(1)), "fail push_bad_answer");
        check(Heard::Silence(Millis(1)), "fail push_timeout");
    }
}
