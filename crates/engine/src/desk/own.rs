//! What the workspace's own streams, control and the work graph, have in common when they are written.

use edgewise_core::event::{Envelope, Record, Recorded, encode_events};
use edgewise_core::id::EventId;
use edgewise_store::{Append, Guard, Stream};

/// Adds staged events to a batch, guarded by what they were decided on: the ledger's seq of their stream. `last` is
/// the id of the last of them.
pub(super) fn stage<E: Recorded>(
    batch: &mut Append,
    stream: &Stream,
    envelope: &Envelope,
    events: &[E],
    (durable, last): (u64, EventId),
) {
    if events.is_empty() {
        return;
    }
    let bytes = encode_events(envelope, events);
    let record = Record::new(&stream.label(), durable + 1, events.len() as u32, bytes);
    batch.guards.push(Guard { stream: stream.clone(), seq: durable });
    batch.records.push((stream.clone(), record, last));
}
