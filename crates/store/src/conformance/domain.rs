//! Queues of domain events: put in once, read in order, acknowledged by each consumer for itself.

use super::Place;
use super::fixture::*;
use crate::domain::{Consumer, Document, Domain, Fresh, Space, Span};
use crate::ledger::Position;
use edgewise_core::time::Time;

fn space(tenant: &str) -> Space {
    Space { tenant: name(tenant), workspace: name("default") }
}

fn fresh(namespace: &str, id: &str, at: u64) -> Fresh {
    let body = format!("{{\"id\":\"{id}\",\"text\":\"ä\\u0000\"}}");
    Fresh { namespace: name(namespace), id: id.into(), name: name("order.done"), at: Time(at), body }
}

fn span(after: Option<u64>, upto: u64) -> Span {
    Span { after: after.map(Position), upto: Position(upto) }
}

fn consumer(namespace: &str, who: &str, place: u64) -> Consumer {
    Consumer { namespace: name(namespace), name: who.into(), place, at: Time(7) }
}

fn ids(ledger: &mut impl Domain, space: &Space, namespace: &str, after: u64) -> Vec<String> {
    let queued = ledger.queued(space, &name(namespace), after, 100).unwrap();
    queued.into_iter().map(|queued| queued.event.id).collect()
}

pub fn what_was_published_is_read_back_in_order_and_once_for_each_id<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let here = space("local");
    assert_eq!(ledger.published(&here).unwrap(), None);
    assert_eq!(ledger.namespaces(&here).unwrap(), []);
    let events = [fresh("a", "1", 10), fresh("b", "2", 11), fresh("a", "3", 12)];
    assert_eq!(ledger.publish(&here, &events, span(None, 5)).unwrap(), Some(3));
    let more = [events[2].clone(), fresh("a", "4", 13)];
    assert_eq!(ledger.publish(&here, &more, span(Some(5), 6)).unwrap(), Some(1));
    for _ in 0..2 {
        assert_eq!(ledger.published(&here).unwrap(), Some(Position(6)));
        assert_eq!(ids(&mut ledger, &here, "a", 0), ["1", "3", "4"]);
        let first = ledger.queued(&here, &name("a"), 0, 1).unwrap().remove(0);
        assert_eq!(first.event, events[0]);
        assert_eq!(ids(&mut ledger, &here, "a", first.place), ["3", "4"]);
        let all: Vec<(String, u64)> =
            ledger.namespaces(&here).unwrap().into_iter().map(|n| (n.name.to_string(), n.events)).collect();
        assert_eq!(all, [("a".to_owned(), 3), ("b".to_owned(), 1)]);
        ledger = open(place).0;
    }
}

pub fn what_was_published_by_somebody_else_since_is_not_published_again<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let here = space("local");
    let event = [fresh("a", "1", 10)];
    assert_eq!(ledger.publish(&here, &event, span(Some(0), 5)).unwrap(), None, "nobody ever published");
    assert_eq!(ledger.publish(&here, &event, span(None, 5)).unwrap(), Some(1));
    assert_eq!(ledger.expire_events(&here, Time(1_000), 100).unwrap(), 1);
    for after in [None, Some(0), Some(4), Some(6)] {
        assert_eq!(ledger.publish(&here, &event, span(after, 7)).unwrap(), None, "{after:?}");
        assert_eq!(ids(&mut ledger, &here, "a", 0), [""; 0], "it was there, and was taken away");
        assert_eq!(ledger.published(&here).unwrap(), Some(Position(5)));
    }
    assert_eq!(ledger.publish(&here, &[], span(Some(5), 7)).unwrap(), Some(0));
    assert_eq!(ledger.published(&here).unwrap(), Some(Position(7)));
}

pub fn queues_of_two_tenants_are_apart<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (here, there) = (space("local"), space("other"));
    ledger.publish(&here, &[fresh("a", "1", 10)], span(None, 5)).unwrap();
    ledger.publish(&there, &[fresh("a", "1", 10)], span(None, 9)).unwrap();
    ledger.acknowledge(&there, &consumer("a", "c", 99)).unwrap();
    ledger.keep(&there, Document::Hook, "h", Some("{}")).unwrap();
    assert_eq!(ids(&mut ledger, &here, "a", 0), ["1"]);
    assert_eq!(ledger.published(&here).unwrap(), Some(Position(5)));
    assert_eq!(ledger.consumers(&here).unwrap(), []);
    assert_eq!(ledger.kept(&here, Document::Hook, "", 9).unwrap(), []);
}

pub fn each_consumer_moves_on_by_itself_and_never_back<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let here = space("local");
    assert_eq!(ledger.acknowledge(&here, &consumer("a", "one", 5)).unwrap(), 5);
    assert_eq!(ledger.acknowledge(&here, &consumer("a", "two", 2)).unwrap(), 2);
    assert_eq!(ledger.acknowledge(&here, &consumer("a", "one", 3)).unwrap(), 5);
    ledger.publish(&here, &[], span(None, 1)).unwrap();
    let mut ledger = open(place).0;
    assert_eq!(ledger.consumers(&here).unwrap(), [consumer("a", "one", 5), consumer("a", "two", 2)]);
    ledger.forget_consumer(&here, &name("a"), "two").unwrap();
    assert_eq!(ledger.consumers(&here).unwrap(), [consumer("a", "one", 5)]);
}

pub fn only_what_is_old_and_acknowledged_by_all_is_taken_away<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let here = space("local");
    let events: Vec<Fresh> = (1..=4).map(|n| fresh("a", &n.to_string(), n * 10)).collect();
    ledger.publish(&here, &events, span(None, 1)).unwrap();
    let places: Vec<u64> = ledger.queued(&here, &name("a"), 0, 9).unwrap().iter().map(|q| q.place).collect();
    ledger.acknowledge(&here, &consumer("a", "fast", places[3])).unwrap();
    ledger.acknowledge(&here, &consumer("a", "slow", places[1])).unwrap();
    assert_eq!(ledger.expire_events(&here, Time(20), 100).unwrap(), 1);
    assert_eq!(ids(&mut ledger, &here, "a", 0), ["2", "3", "4"]);
    assert_eq!(ledger.expire_events(&here, Time(1_000), 100).unwrap(), 1, "the slow one has seen no more");
    ledger.forget_consumer(&here, &name("a"), "slow").unwrap();
    assert_eq!(ledger.expire_events(&here, Time(1_000), 1).unwrap(), 1);
    assert_eq!(ledger.expire_events(&here, Time(1_000), 100).unwrap(), 1);
    ledger.publish(&here, &[fresh("a", "5", 50)], span(Some(1), 2)).unwrap();
    let last = ledger.queued(&here, &name("a"), 0, 9).unwrap().remove(0);
    assert!(last.place > places[3], "no place is given out again");
}

pub fn documents_are_kept_by_key_until_they_are_taken_away<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let here = space("local");
    for (kind, key, body) in
        [(Document::Hook, "h1", "a"), (Document::Dead, "h1/07", "b"), (Document::Dead, "h2/01", "c")]
    {
        ledger.keep(&here, kind, key, Some(body)).unwrap();
    }
    ledger.keep(&here, Document::Hook, "h1", Some("d")).unwrap();
    let mut ledger = open(place).0;
    let pair = |key: &str, body: &str| (key.to_owned(), body.to_owned());
    assert_eq!(ledger.kept(&here, Document::Hook, "", 9).unwrap(), [pair("h1", "d")]);
    assert_eq!(ledger.kept(&here, Document::Dead, "h1/", 9).unwrap(), [pair("h1/07", "b")]);
    ledger.keep(&here, Document::Dead, "h1/07", None).unwrap();
    assert_eq!(ledger.kept(&here, Document::Dead, "", 9).unwrap(), [pair("h2/01", "c")]);
}
