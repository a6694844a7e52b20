//! From when until when a certificate is good: two fields of its DER form (RFC 5280, section 4.1).

use edgewise_core::time::Time;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The two instants; `None` for what is no certificate.
pub(super) fn of(der: &[u8]) -> Option<(Time, Time)> {
    let (_, certificate, _) = take(der).filter(|(tag, ..)| *tag == SEQUENCE)?;
    let (_, mut fields, _) = take(certificate).filter(|(tag, ..)| *tag == SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        fields = take(fields)?.2;
    }
    // Serial number, signature algorithm, issuer.
    for _ in 0..3 {
        fields = take(fields)?.2;
    }
    let (_, validity, _) = take(fields).filter(|(tag, ..)| *tag == SEQUENCE)?;
    let (from, text, rest) = take(validity)?;
    let (until, end, _) = take(rest)?;
    Some((instant(from, text)?, instant(until, end)?))
}

/// One element: its tag, what is in it, and what follows.
fn take(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (inside, rest) = rest.split_at_checked(length)?;
    Some((tag, inside, rest))
}

fn instant(tag: u8, text: &[u8]) -> Option<Time> {
    let digits = text.strip_suffix(b"Z")?;
    let pair = |at: usize| -> Option<i64> { std::str::from_utf8(digits.get(at..at + 2)?).ok()?.parse().ok() };
    let (year, at) = match tag {
        // Two digits: 50 and more are of the last century.
        UTC_TIME => (pair(0).map(|year| if year < 50 { 2000 + year } else { 1900 + year })?, 2),
        GENERALIZED_TIME => (pair(0)? * 100 + pair(2)?, 4),
        _ => return None,
    };
    let days = days(year, pair(at)?, pair(at + 2)?);
    let seconds = days * 86_400 + pair(at + 4)? * 3_600 + pair(at + 6)? * 60 + pair(at + 8)?;
    Some(Time(u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000)))
}

/// Days from 1970 to a date. A year begins in March here, so that the day that is not always there is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_an_instant_are_read_and_nothing_else_is() {
        for (tag, text, expected) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "000229120000Z", Some(951_825_600)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "20240301000001Z", Some(1_709_251_201)),
            (GENERALIZED_TIME, "2024", None),
            (GENERALIZED_TIME, "2024xx01000001Z", None),
            (UTC_TIME, "700101000000", None),
            (2, "700101000000Z", None),
        ] {
            let found = instant(tag, text.as_bytes()).map(|time| time.0 / 1_000);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_anywhere_is_no_certificate() {
        let key = rcgen::KeyPair::generate().unwrap();
        let whole = rcgen::CertificateParams::new(["x".to_owned()]).unwrap().self_signed(&key).unwrap();
        assert!(of(whole.der()).is_some());
        for length in 0..60 {
            assert!(of(&whole.der()[..length]).is_none());
        }
    }
}
