//! How many bytes of rows a long loop and a wide spread write: as many a round or an item, however long they are.

use edgewise_core::run::{Run, WHOLE_RUN};
use edgewise_core::state::RunState;
use edgewise_engine::command::{Answer, Command, Start};
use edgewise_sim::driver::{World, claim_of, finish_of, start_of};
use edgewise_store::Flush;
use serde_json::value::RawValue;
use std::sync::Arc;

fn size(flush: &Flush) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let of_runs = flush.runs.iter().map(|change| {
        let tasks: usize = change.tasks.iter().map(|row| 64 + text(&row.body) + text(&row.output)).sum();
        let given: usize = change.given.iter().map(|row| row.body.len()).sum();
        change.run.body.len() + tasks + given
    });
    of_runs.sum()
}

/// The bytes of all rows that a program of so many items writes, if they are written again after every ten.
fn written(text: &str, items: usize) -> usize {
    let compiled = edgewise_core::text::compile(text, "t.flow").unwrap_or_else(|problems| panic!("{problems}"));
    let plan = Arc::new(compiled.into_iter().next().expect("a flow").plan);
    let list: Vec<String> = (0..items).map(|n| n.to_string()).collect();
    let input = RawValue::from_string(format!("{{\"xs\":[{}]}}", list.join(","))).unwrap();
    let mut w = World::unwatched();
    let Answer::Started { run, .. } = w.must(Command::Start(Start { input, ..start_of(&plan) })) else { panic!() };
    w.settle();
    let (mut bytes, mut grant) = (0, w.claim_one("w"));
    for round in 1..=items {
        w.send(vec![finish_of(grant.lease, Ok(())), Command::Claim(claim_of("w", &["work"], 1))]);
        if round % 10 == 0 || round == items {
            let flush = w.committer().flush_all().unwrap();
            bytes += size(&flush);
            w.writing = Some(flush);
            w.write();
        }
        match w.take().pop() {
            Some(next) => grant = next,
            None => assert_eq!(round, items),
        }
    }
    assert_eq!(w.reader().run(run).unwrap().state, RunState::Complete);
    bytes
}

#[test]
fn the_rows_of_a_long_loop_are_as_many_bytes_a_round_as_those_of_a_short_one() {
    for (what, text) in [
        ("a list", "flow t(xs):\n    for x in range(size(xs)):\n        @work(v=x)\n"),
        ("a variable", "flow t(xs):\n    ys = xs.map(x, x + 1)\n    for y in ys:\n        @work(v=y)\n"),
        ("a spread", "flow t(xs):\n    spread xs:x -> @work(v=x)\n"),
    ] {
        let (short, long) = (written(text, 300), written(text, 3_000));
        assert!(long <= short * 11, "{what}: {short} bytes for 300, {long} for 3,000");
    }
}

#[test]
fn what_is_small_stands_in_the_row_itself() {
    let mut w = World::new();
    let run = w.start_plan(&edgewise_sim::flows::flow("{ flow: t, tasks: { s: { each: [1, 2], action: work } } }"));
    w.settle();
    w.flush();
    let loaded: Run = w.reader().run(run).unwrap();
    assert!(loaded.given_row(WHOLE_RUN).is_none() && loaded.given_rows().next().is_none());
}
