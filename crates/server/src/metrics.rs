//! Metrics in the Prometheus text form. Labels come from the table of routes and from classes of statuses: nothing that
//! a caller says becomes a label.

use crate::door::DoorCounts;
use crate::push::ENDS;
use axum::http::StatusCode;
use edgewise_engine::metrics::{Counts, Durations, Pulse};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0];

/// What a request can be refused with before it is looked at.
const REFUSALS: [&str; 5] = ["no_token", "bad_token", "not_permitted", "foreign_origin", "too_often"];

/// What the door counts of itself.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, &'static str), Histogram>>,
    refusals: [AtomicU64; REFUSALS.len()],
}

#[derive(Default, Clone, Copy)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// What is known elsewhere when somebody asks.
pub struct Known {
    /// What the engine counted.
    pub counts: Counts,
    /// How the engine does.
    pub pulse: Pulse,
    /// What the door counted.
    pub door: DoorCounts,
    /// Readers of event streams.
    pub streams: usize,
    /// Lines of the trail that could not be written.
    pub unwritten: u64,
    /// Spans that a collector took, and those that it did not.
    pub spans: (u64, u64),
    /// Domain events told to listeners, lost to them, and put into queues.
    pub domain: (u64, u64, u64),
    /// How calls of push workers ended, how many are open, and how many workers are left alone.
    pub push: ([u64; ENDS.len()], usize, usize),
}

impl Metrics {
    /// A request was answered.
    pub fn answered(&self, route: &'static str, status: StatusCode, took: Duration) {
        let class = match status.as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        let mut all = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = all.entry((route, class)).or_default();
        let seconds = took.as_secs_f64();
        histogram.count += 1;
        histogram.seconds += seconds;
        for (bucket, most) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= most);
        }
    }

    /// A request was refused before it was looked at.
    pub fn refused(&self, code: &str) {
        if let Some(n) = REFUSALS.iter().position(|known| *known == code) {
            self.refusals[n].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All of it as text.
    pub fn text(&self, known: &Known) -> String {
        let mut text = String::new();
        let Known { counts, pulse, door, streams, unwritten, spans, domain, push } = known;
        for (name, help, value) in [
            ("commits", "Durable appends", counts.commits),
            ("events", "Events in durable appends", counts.events),
            ("ledger_bytes", "Bytes of records in durable appends", counts.bytes),
            ("leases", "Leases granted", counts.leases),
            ("flushes", "Flushes of rows", counts.flushes),
            ("loads", "Runs loaded from rows or ledger", counts.loads),
            ("connections_turned_away", "Connections of addresses that had too many", door.turned_away),
            ("tls_failed", "Connections that came to no agreement about TLS", door.unspoken),
            ("tls_unread", "Changed certificates that could not be used", door.unread),
            ("addresses_too_often", "Requests of addresses that asked too often", door.addresses),
            ("tokens_too_often", "Requests of tokens that asked too often", door.tokens),
            ("audit_unwritten", "Lines of the trail that could not be written", *unwritten),
            ("otlp_sent", "Spans that the collector took", spans.0),
            ("otlp_dropped", "Spans that the collector did not take", spans.1),
            ("domain_fast", "Domain events told to whoever listened", domain.0),
            ("domain_dropped", "Fast domain events lost to listeners that read too slowly", domain.1),
            ("domain_queued", "Domain events put into queues", domain.2),
        ] {
            // Writing to a text cannot fail.
            let _ = write!(
                text,
                "# HELP edgewise_{name}_total {help} since the start.\n# TYPE edgewise_{name}_total counter\n\
                 edgewise_{name}_total {value}\n"
            );
        }
        for (name, help, value) in [
            ("ready_tasks", "Tasks that wait for a worker.", pulse.ready),
            ("leases_active", "Attempts at work.", pulse.leases),
            ("claims_waiting", "Claims of workers that wait for tasks.", pulse.claims),
            ("runs_loaded", "Runs in memory.", pulse.runs),
            ("sse_readers", "Readers of event streams.", *streams),
            ("push_calls_open", "Calls of push workers that are open.", push.1),
            ("push_workers_held_off", "Push workers that are left alone for a while.", push.2),
        ] {
            let _ =
                write!(text, "# HELP edgewise_{name} {help}\n# TYPE edgewise_{name} gauge\nedgewise_{name} {value}\n");
        }
        self.write_refusals(&mut text);
        write_ends(&mut text, &push.0);
        write_durations(&mut text, "ready_to_start", "From ready to leased.", &pulse.ready_to_start);
        write_durations(&mut text, "commit", "How long commits took, with deciding and syncing.", &pulse.commit);
        self.write_requests(&mut text);
        text
    }

    fn write_refusals(&self, text: &mut String) {
        let name = "edgewise_refused_total";
        let _ = writeln!(text, "# HELP {name} Requests refused before they were looked at.\n# TYPE {name} counter");
        for (reason, count) in REFUSALS.iter().zip(&self.refusals) {
            let _ = writeln!(text, "{name}{{reason=\"{reason}\"}} {}", count.load(Ordering::Relaxed));
        }
    }

    fn write_requests(&self, text: &mut String) {
        let name = "edgewise_http_request_seconds";
        let _ = writeln!(text, "# HELP {name} How long requests took.\n# TYPE {name} histogram");
        for ((route, class), histogram) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let labels = format!("route=\"{route}\",status=\"{class}\"");
            for (most, count) in BUCKETS.iter().zip(histogram.buckets) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{most}\"}} {count}");
            }
            let Histogram { count, seconds, .. } = histogram;
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{{labels}}} {seconds}\n{name}_count{{{labels}}} {count}");
        }
    }
}

fn write_ends(text: &mut String, ends: &[u64; ENDS.len()]) {
    let name = "edgewise_push_calls_total";
    let _ = writeln!(text, "# HELP {name} How calls of push workers ended.\n# TYPE {name} counter");
    for (end, count) in ENDS.iter().zip(ends) {
        let _ = writeln!(text, "{name}{{end=\"{end}\"}} {count}");
    }
}

fn write_durations(text: &mut String, name: &str, help: &str, durations: &Durations) {
    let _ = writeln!(text, "# HELP edgewise_{name}_seconds {help}\n# TYPE edgewise_{name}_seconds histogram");
    let mut sum = 0;
    for (most, count) in Durations::BOUNDS_US.iter().zip(durations.buckets) {
        sum += count;
        let _ = writeln!(text, "edgewise_{name}_seconds_bucket{{le=\"{}\"}} {sum}", *most as f64 / 1e6);
    }
    let Durations { count, micros, .. } = durations;
    let _ = writeln!(text, "edgewise_{name}_seconds_bucket{{le=\"+Inf\"}} {count}");
    let _ =
        writeln!(text, "edgewise_{name}_seconds_sum {}\nedgewise_{name}_seconds_count {count}", *micros as f64 / 1e6);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Known {
        let (counts, pulse, door) = Default::default();
        let (domain, push) = Default::default();
        Known { counts, pulse, door, streams: 0, unwritten: 0, spans: (0, 0), domain, push }
    }

    #[test]
    fn nothing_that_a_caller_says_makes_a_new_series() {
        let metrics = Metrics::default();
        let series = |metrics: &Metrics| metrics.text(&nothing()).lines().count();
        let before = series(&metrics);
        for n in 0..10_000 {
            metrics.refused(&format!("name-{n}"));
        }
        assert_eq!(series(&metrics), before);
    }

    #[test]
    fn buckets_hold_everything_up_to_their_bound() {
        let metrics = Metrics::default();
        for ms in [1, 4, 40] {
            metrics.answered("list_runs", StatusCode::OK, Duration::from_millis(ms));
        }
        metrics.refused("bad_token");
        let mut known = nothing();
        known.counts.commits = 7;
        known.domain = (5, 2, 1);
        for ms in [0, 1, 30] {
            known.pulse.ready_to_start.add(Duration::from_millis(ms));
        }
        let text = metrics.text(&known);
        for line in [
            "edgewise_commits_total 7",
            "edgewise_refused_total{reason=\"bad_token\"} 1",
            "edgewise_ready_to_start_seconds_bucket{le=\"0.001\"} 2",
            "edgewise_ready_to_start_seconds_bucket{le=\"0.05\"} 3",
            "edgewise_ready_to_start_seconds_count 3",
            "edgewise_ready_to_start_seconds_sum 0.031",
            "edgewise_claims_waiting 0",
            "edgewise_domain_dropped_total 2",
            "edgewise_http_request_seconds_bucket{route=\"list_runs\",status=\"2xx\",le=\"0.005\"} 2",
            "edgewise_http_request_seconds_count{route=\"list_runs\",status=\"2xx\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
