//! How long something takes, as short as it can be read: `0.4s`, `12s`, `2m04s`, `1h02m`, `3d04h`.

use edgewise_core::time::Millis;

/// Never wider than six columns below a hundred days, and calm: tenths only while they matter.
pub fn span(length: Millis) -> String {
    let ms = length.0;
    let (seconds, minutes, hours) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    if seconds < 10 {
        format!("{}.{}s", seconds, ms % 1_000 / 100)
    } else if minutes < 1 {
        format!("{seconds}s")
    } else if hours < 1 {
        format!("{minutes}m{:02}s", seconds % 60)
    } else if hours < 24 {
        format!("{hours}h{:02}m", minutes % 60)
    } else {
        format!("{}d{:02}h", hours / 24, hours % 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_short_at_every_size() {
        for (ms, text) in [
            (0, "0.0s"),
            (449, "0.4s"),
            (9_999, "9.9s"),
            (10_000, "10s"),
            (59_999, "59s"),
            (64_000, "1m04s"),
            (3_599_999, "59m59s"),
            (3_720_000, "1h02m"),
            (86_400_000 * 3 + 3_600_000 * 4, "3d04h"),
        ] {
            assert_eq!(span(Millis(ms)), text);
        }
    }
}
