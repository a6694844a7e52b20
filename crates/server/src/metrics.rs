//! Metrics in the Prometheus text form. Labels come from the table of routes and from classes of statuses: nothing that
//! a caller says becomes a label.

use axum::http::StatusCode;
use edgewise_engine::metrics::Counts;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0];

/// What the door counts of itself.
#[derive(Default)]
pub struct Metrics(Mutex<BTreeMap<(&'static str, &'static str), Histogram>>);

#[derive(Default, Clone, Copy)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
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
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = all.entry((route, class)).or_default();
        let seconds = took.as_secs_f64();
        histogram.count += 1;
        histogram.seconds += seconds;
        for (bucket, most) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= most);
        }
    }

    /// All of it as text, with what the engine counts.
    pub fn text(&self, counts: &Counts) -> String {
        let mut text = String::new();
        for (name, help, value) in [
            ("commits", "Durable appends", counts.commits),
            ("events", "Events in durable appends", counts.events),
            ("ledger_bytes", "Bytes of records in durable appends", counts.bytes),
            ("leases", "Leases granted", counts.leases),
            ("flushes", "Flushes of rows", counts.flushes),
            ("loads", "Runs loaded from rows or ledger", counts.loads),
        ] {
            // Writing to a text cannot fail.
            let _ = write!(
                text,
                "# HELP edgewise_{name}_total {help} since the start.\n# TYPE edgewise_{name}_total counter\n\
                 edgewise_{name}_total {value}\n"
            );
        }
        let name = "edgewise_http_request_seconds";
        let _ = writeln!(text, "# HELP {name} How long requests took.\n# TYPE {name} histogram");
        for ((route, class), histogram) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let labels = format!("route=\"{route}\",status=\"{class}\"");
            for (most, count) in BUCKETS.iter().zip(histogram.buckets) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{most}\"}} {count}");
            }
            let Histogram { count, seconds, .. } = histogram;
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{{labels}}} {seconds}\n{name}_count{{{labels}}} {count}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_everything_up_to_their_bound() {
        let metrics = Metrics::default();
        for ms in [1, 4, 40] {
            metrics.answered("list_runs", StatusCode::OK, Duration::from_millis(ms));
        }
        let text = metrics.text(&Counts { commits: 7, ..Counts::default() });
        for line in [
            "edgewise_commits_total 7",
            "edgewise_http_request_seconds_bucket{route=\"list_runs\",status=\"2xx\",le=\"0.005\"} 2",
            "edgewise_http_request_seconds_count{route=\"list_runs\",status=\"2xx\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
