//! Every limit of the door, by name, in one place.

use edgewise_core::rate::Rate;
use edgewise_core::time::Millis;
use std::time::Duration;

/// Most connections at once; the next ones wait in the system's queue.
pub const CONNECTIONS: usize = 4_096;
/// Most connections at once from one address.
pub const CONNECTIONS_EACH: usize = 2_048;
/// How long a peer may take to agree on a cipher.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// Largest head of a request; HTTP says 431 to more.
pub const HEAD_BYTES: usize = 64 << 10;
/// Askers whose pace is kept by itself; more than that share one.
pub const ASKERS: usize = 10_000;
/// How often a token may ask where the server is reached from other machines, unless it is told otherwise.
pub const TOKEN_RATE: &str = "1000/s";
/// The same for all that one address asks.
pub const ADDRESS_RATE: &str = "2000/s";
/// Most workspaces of one server.
pub const WORKSPACES: usize = 256;
/// Largest body of a request: a large flow with a large input.
pub const BODY_BYTES: usize = 32 << 20;
/// How long a peer may take to send the head of a request.
pub const HEAD: Duration = Duration::from_secs(10);
/// How long a peer may take to send the body of a request.
pub const BODY: Duration = Duration::from_secs(60);
/// Longest wait of one long poll.
pub const WAIT: Duration = Duration::from_secs(60);
/// Most leases of one claim, reports of one completion and leases of one heartbeat.
pub const BATCH: usize = 10_000;
/// Shortest and longest lease that a worker may ask for.
pub const LEASE_MS: std::ops::RangeInclusive<u64> = 1_000..=24 * 3_600_000;
/// A lease whose length the worker does not say.
pub const LEASE_DEFAULT_MS: u64 = 30_000;
/// Most runs of one page.
pub const PAGE: usize = 1_000;
/// Runs of a page whose length is not said.
pub const PAGE_DEFAULT: usize = 100;
/// Largest body of a call to a gate's address: it is kept with the gate.
pub const HOOK_BYTES: usize = 48 << 10;
/// Largest body of a call to a flow's address: it is the input of a run.
pub const START_BYTES: usize = 1 << 20;
/// How often the address of one flow may be called, twenty of them at once; each call may be a run.
pub const START_RATE: Rate = Rate { count: 200, per: Millis(1_000) };
/// Runs taken away by one request: the engine has other things to do, too.
pub const RETAIN: usize = 100;
/// Most readers of the store at once.
pub const READERS: usize = 4;
/// Most readers of event streams at once.
pub const STREAMS: usize = 1_000;
/// Answers that are kept for repeated requests, and their largest.
pub const REPEATS: (usize, usize) = (10_000, 1 << 20);
/// Bytes of answers that are kept for repeated requests, all together.
pub const REPEATS_BYTES: usize = 64 << 20;
/// Longest `Idempotency-Key` and claim id.
pub const KEY_BYTES: usize = 256;
/// How long the tokens that were read are believed.
pub const TOKENS_FRESH: Duration = Duration::from_millis(500);
/// The shortest pause between two looks of one event stream.
pub const STREAM_PAUSE: Duration = Duration::from_millis(25);
/// How long each event stream rests between two looks, for each stream that is open.
pub const STREAM_REST: Duration = Duration::from_millis(1);
/// The longest that an event stream rests between two looks.
pub const STREAM_REST_MOST: Duration = Duration::from_millis(250);
/// Looks at the ledger that are kept for other readers of the same events.
pub const STREAM_PAGES: usize = 8;
/// Records of the ledger that one look of an event stream reads at most.
pub const STREAM_RECORDS: usize = 200;
/// How long a reader of an event stream may read nothing before it is cut off.
pub const STREAM_STALL: Duration = Duration::from_secs(30);
/// How often a silent event stream says that it is still there.
pub const STREAM_ALIVE: Duration = Duration::from_secs(15);
/// How long open calls of push workers may go on when the server is told to stop.
pub const PUSH_STOPS: Duration = Duration::from_secs(10);
