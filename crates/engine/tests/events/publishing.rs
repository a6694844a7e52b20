//! Deliveries, crashes, slow listeners and the order of a queue.

use crate::stage::*;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::publish::{Heard, Listener};
use edgewise_store::faulty::{Fault, Faults, FaultyLedger, Op};
use edgewise_store::{Domain, Ledger, Position, Span};
use std::collections::BTreeSet;

/// What a listener hears until an event of a name.
pub async fn heard(listener: &mut Listener, last: &str) -> Vec<String> {
    let mut names = Vec::new();
    loop {
        match within("an event", listener.next()).await {
            Some(Heard::Event(told)) => names.push(told.event.name.to_string()),
            other => panic!("{other:?}"),
        }
        if names.last().is_some_and(|name| name == last) {
            return names;
        }
    }
}

#[tokio::test]
async fn each_delivery_reaches_whom_it_is_for_under_each_condition() {
    let deliveries = [("fast", true, false), ("durable", false, true), ("broadcast", true, true)];
    let ends = [
        ("ok", vec!["success", "always"]),
        ("bad", vec!["failure", "permanent_failure", "always"]),
        ("flaky", vec!["failure", "retryable_failure", "always", "success", "always"]),
    ];
    for (delivery, fast, durable) in deliveries {
        for (action, conditions) in &ends {
            let place = Place::default();
            let engine = place.engine();
            let mut listener = engine.listeners().listen();
            let _worker = work(&engine);
            let words = ["success", "failure", "retryable_failure", "permanent_failure", "always"];
            let list: String =
                words.map(|w| format!("{{ name: {w}, condition: {w}, delivery: {delivery} }}, ")).concat();
            let text = format!(
                "flow: f\npublish: [{{ name: over, condition: always, delivery: fast }}]\n\
                 tasks: {{ a: {{ action: {action}, retry: 2, publish: [{list}] }} }}"
            );
            let id = run(&engine, flow(&text)).await;
            end(&engine, id).await;
            let heard = heard(&mut listener, "over").await;
            engine.stop().unwrap();
            let expected: Vec<String> = conditions.iter().map(|word| (*word).to_owned()).collect();
            let said = |is: bool| if is { expected.clone() } else { Vec::new() };
            assert_eq!(heard[..heard.len() - 1], said(fast), "{delivery} {action}");
            assert_eq!(place.names("f"), said(durable), "{delivery} {action}");
        }
    }
}

#[tokio::test]
async fn that_people_are_asked_is_told_of_every_flow_in_one_queue() {
    let place = Place::default();
    let engine = place.engine();
    let mut listener = engine.listeners().listen();
    let gate = "{ approval: { from: [lead] }, escalate: { after: 5ms, to: [boss] } }";
    run(&engine, flow(&format!("flow: f\ntasks: {{ a: {{ gate: {gate} }} }}"))).await;
    let told = ["edgewise.gate.asked", "edgewise.gate.escalated"];
    assert_eq!(heard(&mut listener, told[1]).await, told);
    engine.stop().unwrap();
    assert_eq!(place.names("gates"), told);
    assert_eq!(place.names("f"), [""; 0]);
    let findings = edgewise_engine::doctor::queues(Box::new(place.ledger.clone()), &space()).unwrap();
    assert_eq!(findings, []);
}

#[tokio::test]
async fn what_was_committed_and_not_published_is_published_once_by_the_next_engine() {
    let place = Place::default();
    // The first publisher says where it began, and is killed.
    drop(place.publisher());
    let engine = place.silent_engine();
    let worker = work(&engine);
    let text = "flow: f\npublish: [done]\ntasks: { a: { action: flaky, publish: [{ name: a, condition: always }] } }";
    for _ in 0..5 {
        let id = run(&engine, flow(text)).await;
        end(&engine, id).await;
    }
    drop(worker);
    engine.stop().unwrap();
    assert_eq!(place.names("f"), [""; 0]);
    // Killed after it derived everything and wrote nothing; then after it wrote; then nothing is left to do.
    for round in 0..3 {
        let mut publisher = place.publisher();
        publisher.look().unwrap();
        if round > 0 {
            publisher.write().unwrap();
        }
    }
    let queue = place.queue("f");
    assert_eq!(queue.iter().filter(|(name, _)| name == "a").count(), 10, "two attempts of five runs");
    assert_eq!(queue.iter().filter(|(name, _)| name == "done").count(), 5);
    assert_eq!(queue.iter().collect::<BTreeSet<_>>().len(), queue.len());
    place.engine().stop().unwrap();
    assert_eq!(place.queue("f"), queue);
}

#[tokio::test]
async fn a_publisher_that_lost_its_cursor_tells_nothing_twice() {
    let place = Place::default();
    let engine = place.engine();
    let _worker = work(&engine);
    let id = run(&engine, flow("flow: f\npublish: [done]\ntasks: { a: { action: ok } }")).await;
    end(&engine, id).await;
    engine.stop().unwrap();
    let queue = place.queue("f");
    assert_eq!(queue.len(), 1);
    let mut ledger = place.ledger.clone();
    // As if the cursor stood at the start, and everything were derived again.
    let events: Vec<_> =
        ledger.queued(&space(), &name("f"), 0, 9).unwrap().into_iter().map(|queued| queued.event).collect();
    let at = ledger.published(&space()).unwrap();
    let span = Span { after: at, upto: at.unwrap() };
    assert_eq!(ledger.publish(&space(), &events, span).unwrap(), Some(0), "its id is known");
    assert_eq!(place.queue("f"), queue);
}

#[tokio::test]
async fn a_slow_listener_loses_the_oldest_and_they_are_counted_and_nobody_waits_for_it() {
    let place = Place::default();
    let engine = place.engine();
    let mut slow = engine.listeners().listen();
    let _worker = work(&engine);
    let items = (0..5_000).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!(
        "flow: f\ntasks: {{ a: {{ each: [{items}], emit: {{ name: t, delivery: fast, payload: '${{{{ item }}}}' }} }} }}"
    );
    let id = run(&engine, flow(&text)).await;
    end(&engine, id).await;
    engine.stop().unwrap();
    let Some(Heard::Dropped(lost)) = within("the first word", slow.next()).await else { panic!("nothing was lost") };
    let (told, dropped, queued) = engine.listeners().counts();
    assert_eq!((told, queued), (5_000, 0));
    assert_eq!(dropped, lost);
    assert_eq!(lost, 5_000 - 4_096);
}

#[tokio::test]
async fn queues_that_cannot_be_written_keep_no_fast_event_from_whoever_listens() {
    let place = Place::default();
    // The first says where the publisher begins.
    let faults = (2..1_000).fold(Faults::none(), |faults, n| faults.fail_nth_of(Op::Publish, n, Fault::Refused));
    let engine = place.engine_with(Box::new(FaultyLedger::new(place.ledger.clone(), faults.clone())));
    let mut listener = engine.listeners().listen();
    let text =
        "flow: f\npublish: [{ name: over, condition: always, delivery: broadcast }]\ntasks: { a: { emit: one } }";
    for _ in 0..2 {
        for _ in 0..10 {
            let id = run(&engine, flow(text)).await;
            end(&engine, id).await;
            assert_eq!(heard(&mut listener, "over").await, ["over"]);
        }
        let failed = async {
            while faults.count(Op::Publish) < 2 {
                tokio::task::yield_now().await;
            }
        };
        within("a write that fails", failed).await;
    }
    assert_eq!(place.names("f"), [""; 0]);
    faults.calm();
    engine.stop().unwrap();
    assert_eq!(engine.listeners().counts().0, 20, "each was told once");
    place.engine().stop().unwrap();
    assert_eq!(place.names("f"), ["one", "over"].repeat(20), "and what is durable comes when it can");
}

#[tokio::test]
async fn a_queue_has_the_order_of_the_ledger_and_namespaces_are_apart() {
    let place = Place::default();
    let engine = place.engine();
    let _worker = work(&engine);
    let text = "flow: f\nnamespace: shop\npublish: [over]\ntasks:\n  a: { emit: one }\n  b: { after: a, emit: two }\n  c: { after: b, action: ok, publish: [three] }";
    for _ in 0..20 {
        let id = run(&engine, flow(text)).await;
        end(&engine, id).await;
    }
    let other = run(&engine, flow("flow: other\ntasks: { a: { emit: one } }")).await;
    end(&engine, other).await;
    engine.stop().unwrap();
    assert_eq!(place.names("shop"), ["one", "two", "three", "over"].repeat(20));
    assert_eq!(place.names("other"), ["one"]);
    assert_eq!(engine.listeners().counts(), (0, 0, 81), "whoever waits for a queue is woken");
    assert_eq!(*engine.listeners().watch_queues().borrow(), 81);
    assert_eq!(place.names("f"), [""; 0]);
}

#[tokio::test]
async fn a_flow_that_tells_nothing_is_not_even_loaded() {
    let place = Place::default();
    let engine = place.engine();
    let _worker = work(&engine);
    let id = run(&engine, flow("flow: f\ntasks: { a: { action: ok } }")).await;
    end(&engine, id).await;
    engine.stop().unwrap();
    assert_eq!(engine.listeners().counts(), (0, 0, 0));
    assert_eq!(place.shelf().namespaces().unwrap(), []);
}

#[tokio::test]
async fn consumers_read_until_they_acknowledge_each_for_itself() {
    let place = Place::default();
    let engine = place.engine();
    let _worker = work(&engine);
    let id =
        run(&engine, flow("flow: f\npublish: [over]\ntasks: { a: { emit: one }, b: { after: a, emit: two } }")).await;
    end(&engine, id).await;
    engine.stop().unwrap();
    let shelf = place.shelf();
    let f = name("f");
    let first = shelf.next(&f, "billing", 2).unwrap();
    assert_eq!(first.events.len(), 2);
    assert_eq!(shelf.next(&f, "billing", 2).unwrap(), first, "reading is not acknowledging");
    assert_eq!(shelf.acknowledge(&f, "billing", first.events[1].place, Time(1)).unwrap(), first.events[1].place);
    let rest = shelf.next(&f, "billing", 2).unwrap();
    assert_eq!(rest.events.iter().map(|q| q.event.name.as_str()).collect::<Vec<_>>(), ["over"]);
    assert_eq!(shelf.next(&f, "audit", 9).unwrap().events.len(), 3);
    assert_eq!(shelf.acknowledge(&f, "billing", 99, Time(1)).unwrap_err().code, "not_there_yet");
    let mut publisher = place.publisher();
    publisher.expire(Time(u64::MAX), Millis(0)).unwrap();
    assert_eq!(place.names("f"), ["over"], "audit never acknowledged anything, so it is nobody's consumer yet");
}

#[tokio::test]
async fn a_publisher_that_stood_still_until_events_were_taken_away_does_not_queue_them_again() {
    let place = Place::default();
    // One has read everything and not written; one has not even read.
    let (mut read, mut unread) = (place.publisher(), place.publisher());
    tells(&place.silent_engine()).await;
    read.look().unwrap();
    let mut other = place.publisher();
    other.look().unwrap();
    other.write().unwrap();
    assert_eq!(place.names("f"), ["one", "two"]);
    let shelf = place.shelf();
    let last = shelf.next(&name("f"), "billing", 9).unwrap().events[1].place;
    shelf.acknowledge(&name("f"), "billing", last, Time(1)).unwrap();
    other.expire(Time(u64::MAX), Millis(0)).unwrap();
    unread.look().unwrap();
    for still in [&mut read, &mut unread] {
        assert_eq!(still.write().unwrap_err().code, "published_elsewhere");
        assert_eq!(place.names("f"), [""; 0], "they were told, and are gone");
        still.rewind().unwrap();
        still.look().unwrap();
        still.write().unwrap();
        assert_eq!(place.names("f"), [""; 0]);
    }
    tells(&place.silent_engine()).await;
    for still in [&mut read, &mut unread] {
        still.rewind().unwrap();
        still.look().unwrap();
        still.write().unwrap();
    }
    assert_eq!(place.names("f"), ["one", "two"], "what came after is told, once");
}

/// Says that everything up to a place was published.
fn move_cursor(ledger: &mut impl Domain, upto: Position) {
    let after = ledger.published(&space()).unwrap();
    ledger.publish(&space(), &[], Span { after, upto }).unwrap().unwrap();
}

/// What the doctor says of the queues.
pub fn examined(place: &Place) -> Vec<&'static str> {
    let found = edgewise_engine::doctor::queues(Box::new(place.ledger.clone()), &space()).unwrap();
    found.into_iter().map(|finding| finding.code).collect()
}

async fn tells(engine: &edgewise_engine::Engine) {
    let id = run(engine, flow("flow: f\ntasks:\n  a: { emit: one }\n  b: { after: a, emit: two }")).await;
    end(engine, id).await;
    engine.stop().unwrap();
}

#[tokio::test]
async fn the_doctor_finds_what_a_queue_lacks_and_nothing_in_one_that_is_whole() {
    let place = Place::default();
    for _ in 0..3 {
        tells(&place.engine()).await;
    }
    assert_eq!(examined(&place), [""; 0]);
    // Somebody moved the cursor past a run that was not published.
    tells(&place.silent_engine()).await;
    let mut ledger = place.ledger.clone();
    let tail = ledger.tail().unwrap();
    move_cursor(&mut ledger, tail);
    assert_eq!(examined(&place), ["events_missing"]);
    let consumer = edgewise_store::Consumer { namespace: name("f"), name: "c".into(), place: 99, at: Time(1) };
    ledger.acknowledge(&space(), &consumer).unwrap();
    assert_eq!(examined(&place), ["consumer_beyond_end", "events_missing"]);
    move_cursor(&mut ledger, Position(tail.0 + 50));
    assert_eq!(examined(&place)[0], "published_beyond_end");
}

#[tokio::test]
async fn the_doctor_finds_events_that_stand_in_another_order_than_in_the_ledger() {
    let place = Place::default();
    tells(&place.engine()).await;
    let mut ledger = place.ledger.clone();
    let upto = ledger.published(&space()).unwrap().unwrap();
    let queued = ledger.queued(&space(), &name("f"), 0, 9).unwrap();
    let mut events: Vec<_> = queued.into_iter().map(|queued| queued.event).collect();
    // Taken away and put in again, the wrong way round.
    assert_eq!(ledger.expire_events(&space(), Time(u64::MAX), 9).unwrap(), 2);
    events.reverse();
    assert_eq!(ledger.publish(&space(), &events, Span { after: Some(upto), upto }).unwrap(), Some(2));
    assert_eq!(examined(&place), ["event_out_of_order"]);
}
