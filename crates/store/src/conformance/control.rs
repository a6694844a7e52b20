//! The rows of a workspace's control: guarded by the seq they are at, like those of runs.

use super::Place;
use super::fixture::*;
use crate::ledger::{Ledger, Position, Stream};
use crate::projections::{ControlChange, Flush, Projections};
use edgewise_core::Kind;
use edgewise_core::control::{ControlRow, ControlRows, Key};
use edgewise_core::id::{EventId, RunId};

fn control(tenant: &str) -> Stream {
    stream_in(tenant, "default", RunId::CONTROL.0)
}

fn row(key: Key, body: &str) -> ControlRow {
    ControlRow { key, body: body.into() }
}

/// A change from one seq to another with one row of each kind.
fn change_of(tenant: &str, from: u64, to: u64) -> ControlChange {
    let rows = vec![
        row(Key::Flow(name("a/b")), "{\"ä\":1}"),
        row(Key::Schedule(name("a/b")), "{}"),
        row(Key::Setting(name("queue.slots")), "4"),
    ];
    let version = EventId(u128::MAX - u128::from(to));
    ControlChange { stream: control(tenant), from_seq: from, applied_seq: to, version, rows, gone: vec![] }
}

fn of(change: ControlChange, watermark: u64) -> Flush {
    Flush { control: Some(change), ..flush(vec![], watermark) }
}

pub fn control_rows_come_back_and_change_one_by_one<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    assert_eq!(rows.control(&control("local")).unwrap(), None);
    let sent = change_of("local", 0, 3);
    rows.flush(&of(sent.clone(), 0)).unwrap();
    let read = |applied_seq, version, rows| Some(ControlRows { applied_seq, version, rows });
    assert_eq!(rows.control(&control("local")).unwrap(), read(3, sent.version, sent.rows.clone()));
    let other = ControlChange {
        rows: vec![row(Key::Flow(name("a/b")), "new")],
        gone: vec![Key::Schedule(name("a/b")), Key::Schedule(name("never"))],
        ..change_of("local", 3, 4)
    };
    rows.flush(&of(other.clone(), 0)).unwrap();
    let left = vec![other.rows[0].clone(), sent.rows[2].clone()];
    let (_, mut again) = open(place);
    assert_eq!(again.control(&control("local")).unwrap(), read(4, other.version, left));
}

pub fn a_control_flush_from_another_seq_is_refused_whole<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    rows.flush(&of(change_of("local", 0, 3), 1)).unwrap();
    for from in [0, 2, 4] {
        let flush = Flush { runs: vec![change(&stream(1), 0, 1)], ..of(change_of("local", from, 5), 9) };
        let error = rows.flush(&flush).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Conflict, "projection_moved"));
    }
    assert_eq!(rows.load(&stream(1)).unwrap(), None, "nothing of the flush is there");
    assert_eq!(rows.watermark().unwrap(), Position(1));
    let back = rows.flush(&of(change_of("local", 3, 2), 9)).unwrap_err();
    assert_eq!((back.kind, back.code), (Kind::Invalid, "bad_flush"));
    let runs = ControlChange { stream: stream(1), ..change_of("local", 3, 4) };
    assert_eq!(rows.flush(&of(runs, 9)).unwrap_err().code, "bad_flush");
}

pub fn control_rows_of_two_tenants_are_apart_and_can_be_forgotten<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    rows.flush(&of(change_of("local", 0, 3), 1)).unwrap();
    rows.flush(&of(change_of("other", 0, 8), 2)).unwrap();
    rows.forget(&control("local")).unwrap();
    assert_eq!(rows.control(&control("local")).unwrap(), None);
    assert_eq!(rows.control(&control("other")).unwrap().unwrap().applied_seq, 8);
    rows.flush(&of(change_of("local", 0, 4), 2)).unwrap();
    assert_eq!(rows.control(&control("local")).unwrap().unwrap().applied_seq, 4);
}

pub fn a_control_stream_is_a_stream_like_any_other<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (run, control) = (stream(1), control("local"));
    assert_eq!(control.label(), "local/default/control");
    done(&mut ledger, &batch(&[(&run, 0, 2), (&control, 0, 1)]));
    assert_eq!(ledger.head(&control).unwrap().seq, 1);
    assert_eq!(ledger.read_all(Position(1), 10).unwrap()[0].stream, control);
    assert_eq!(ledger.find("zzzz", 10).unwrap(), [control]);
}
