use super::*;

/// The ticks of an expression in a zone after an instant, as RFC 3339 in UTC.
fn check(text: &str, zone: &str, after: &str, expected: &[&str]) {
    let rhythm = Rhythm::read(&When::Cron { text: text.into(), zone: zone.into() }).unwrap();
    let ticks: Vec<String> = rhythm
        .after(Time::parse(after).unwrap())
        .take(expected.len())
        .map(|t| t.to_string().replace(".000Z", "Z"))
        .collect();
    assert_eq!(ticks, expected, "{text} in {zone} after {after}");
}

#[test]
fn ticks_follow_the_calendar() {
    for (text, after, expected) in [
        ("0 0 * * *", "2026-01-31T12:00:00Z", ["2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z", "2026-02-03T00:00:00Z"]),
        (
            "*/15 * * * *",
            "2026-01-01T00:00:00Z",
            ["2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z", "2026-01-01T00:45:00Z"],
        ),
        (
            "5/20 3 * * *",
            "2026-01-01T00:00:00Z",
            ["2026-01-01T03:05:00Z", "2026-01-01T03:25:00Z", "2026-01-01T03:45:00Z"],
        ),
        (
            "*/20 * * * * *",
            "2026-01-01T00:00:59.999Z",
            ["2026-01-01T00:01:00Z", "2026-01-01T00:01:20Z", "2026-01-01T00:01:40Z"],
        ),
        (
            "* * * * * *",
            "2026-01-01T00:00:00Z",
            ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z", "2026-01-01T00:00:03Z"],
        ),
        (
            "30 7 * * MON-FRI",
            "2026-01-02T08:00:00Z",
            ["2026-01-05T07:30:00Z", "2026-01-06T07:30:00Z", "2026-01-07T07:30:00Z"],
        ),
        (
            "0 12 29 feb *",
            "2026-01-01T00:00:00Z",
            ["2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z", "2036-02-29T12:00:00Z"],
        ),
        ("0 0 L * *", "2026-01-31T00:00:00Z", ["2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z", "2026-04-30T00:00:00Z"]),
        (
            "0 0 * * 5L",
            "2026-01-01T00:00:00Z",
            ["2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-27T00:00:00Z"],
        ),
        (
            "0 0 * * tue#2",
            "2026-01-01T00:00:00Z",
            ["2026-01-13T00:00:00Z", "2026-02-10T00:00:00Z", "2026-03-10T00:00:00Z"],
        ),
        (
            "0 0 13 * 5",
            "2026-02-01T00:00:00Z",
            ["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"],
        ),
        (
            "0 0 */10 * 7",
            "2026-03-01T00:00:00Z",
            ["2026-05-31T00:00:00Z", "2026-06-21T00:00:00Z", "2026-10-11T00:00:00Z"],
        ),
        ("@monthly", "2026-11-15T00:00:00Z", ["2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"]),
        (
            "0 9-17/4 * 1,7 0",
            "2026-01-01T00:00:00Z",
            ["2026-01-04T09:00:00Z", "2026-01-04T13:00:00Z", "2026-01-04T17:00:00Z"],
        ),
        (
            "0 0 29 2 1",
            "2026-03-01T00:00:00Z",
            ["2027-02-01T00:00:00Z", "2027-02-08T00:00:00Z", "2027-02-15T00:00:00Z"],
        ),
    ] {
        check(text, "UTC", after, &expected);
    }
}

#[test]
fn a_time_that_does_not_exist_is_the_first_instant_after_the_gap() {
    for (text, zone, after, expected) in [
        // New York: 02:00 to 03:00 on 8 March 2026.
        ("30 2 * * *", "America/New_York", "2026-03-07T08:00:00Z", ["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        ("0,30 2 * * *", "America/New_York", "2026-03-08T06:59:00Z", ["2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"]),
        ("30 2,3 * * *", "America/New_York", "2026-03-08T06:00:00Z", ["2026-03-08T07:00:00Z", "2026-03-08T07:30:00Z"]),
        ("0 3 * * *", "America/New_York", "2026-03-08T06:00:00Z", ["2026-03-08T07:00:00Z", "2026-03-09T07:00:00Z"]),
        ("*/20 2 * * *", "America/New_York", "2026-03-08T06:00:00Z", ["2026-03-08T07:00:00Z", "2026-03-09T06:00:00Z"]),
        // Berlin: 02:00 to 03:00 on 29 March 2026.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
        ("30 2 29 3 *", "Europe/Berlin", "2026-01-01T00:00:00Z", ["2026-03-29T01:00:00Z", "2027-03-29T00:30:00Z"]),
        // Asked within the second before the gap.
        ("58 59 1,2 * * *", "Europe/Berlin", "2027-03-28T00:59:58Z", ["2027-03-28T01:00:00Z", "2027-03-28T23:59:58Z"]),
        ("59 59 1,2 * * *", "Europe/Berlin", "2027-03-28T00:59:58Z", ["2027-03-28T00:59:59Z", "2027-03-28T01:00:00Z"]),
        ("59 59 1,2 * * *", "Europe/Berlin", "2027-03-28T00:59:59Z", ["2027-03-28T01:00:00Z", "2027-03-28T23:59:59Z"]),
        ("0 30 2 * * *", "Europe/Berlin", "2027-03-28T00:59:59.999Z", ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]),
        ("0 30 2 * * *", "Europe/Berlin", "2027-03-28T01:00:00Z", ["2027-03-29T00:30:00Z", "2027-03-30T00:30:00Z"]),
        // London: 01:00 to 02:00 on 29 March 2026.
        ("15 1 * * SUN", "Europe/London", "2026-03-22T12:00:00Z", ["2026-03-29T01:00:00Z", "2026-04-05T00:15:00Z"]),
        // Lord Howe Island: 02:00 to 02:30 on 4 October 2026, half an hour only.
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]),
        ("45 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", ["2026-10-03T15:45:00Z", "2026-10-04T15:45:00Z"]),
        // Cairo: 00:00 to 01:00 on 24 April 2026, at midnight.
        ("0 0 * * *", "Africa/Cairo", "2026-04-22T23:00:00Z", ["2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"]),
        // Samoa left out the whole of 30 December 2011.
        ("0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", ["2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"]),
    ] {
        check(text, zone, after, &expected);
    }
}

#[test]
fn a_time_that_exists_twice_is_the_first_of_both() {
    for (text, zone, after, expected) in [
        // New York: 01:00 to 02:00 twice on 1 November 2026.
        ("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", ["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", ["2026-11-02T06:30:00Z", "2026-11-03T06:30:00Z"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T06:15:00Z", ["2026-11-02T06:30:00Z", "2026-11-03T06:30:00Z"]),
        ("0 1,2 * * *", "America/New_York", "2026-11-01T04:00:00Z", ["2026-11-01T05:00:00Z", "2026-11-01T07:00:00Z"]),
        ("*/30 1 * * *", "America/New_York", "2026-11-01T05:00:00Z", ["2026-11-01T05:30:00Z", "2026-11-02T06:00:00Z"]),
        // Berlin: 02:00 to 03:00 twice on 25 October 2026.
        ("0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"]),
        ("0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", ["2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"]),
        // Asked within the second before the clock is put back, and within the last one that comes twice.
        ("59 59 2 * * *", "Europe/Berlin", "2026-10-25T00:59:58Z", ["2026-10-25T00:59:59Z", "2026-10-26T01:59:59Z"]),
        ("59 59 2 * * *", "Europe/Berlin", "2026-10-25T00:59:59.5Z", ["2026-10-26T01:59:59Z", "2026-10-27T01:59:59Z"]),
        ("0 0 2,3 * * *", "Europe/Berlin", "2026-10-25T00:59:59Z", ["2026-10-25T02:00:00Z", "2026-10-26T01:00:00Z"]),
        ("0 0 2,3 * * *", "Europe/Berlin", "2026-10-25T01:59:59Z", ["2026-10-25T02:00:00Z", "2026-10-26T01:00:00Z"]),
        // Lord Howe Island: 01:30 to 02:00 twice on 5 April 2026.
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]),
    ] {
        check(text, zone, after, &expected);
    }
}

#[test]
fn any_hour_goes_by_what_the_clock_shows() {
    for (text, zone, after, expected) in [
        ("30 * * * *", "America/New_York", "2026-03-08T06:00:00Z", ["2026-03-08T06:30:00Z", "2026-03-08T07:30:00Z"]),
        ("30 * * * *", "America/New_York", "2026-11-01T05:00:00Z", ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"]),
        ("*/15 * * * *", "Europe/Berlin", "2026-03-29T00:45:00Z", ["2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"]),
        ("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", ["2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"]),
        ("0 */2 * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", ["2026-03-29T02:00:00Z", "2026-03-29T04:00:00Z"]),
        ("0 0-23 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", ["2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"]),
        (
            "*/15 * * * *",
            "Australia/Lord_Howe",
            "2026-10-03T15:15:00Z",
            ["2026-10-03T15:30:00Z", "2026-10-03T15:45:00Z"],
        ),
        (
            "*/15 * * * *",
            "Australia/Lord_Howe",
            "2026-04-04T14:45:00Z",
            ["2026-04-04T15:00:00Z", "2026-04-04T15:15:00Z"],
        ),
    ] {
        check(text, zone, after, &expected);
    }
}

#[test]
fn zones_with_odd_offsets_and_without_changes() {
    for (text, zone, after, expected) in [
        ("0 9 * * *", "Asia/Kathmandu", "2026-01-01T00:00:00Z", ["2026-01-01T03:15:00Z", "2026-01-02T03:15:00Z"]),
        ("0 * * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", ["2026-01-01T00:30:00Z", "2026-01-01T01:30:00Z"]),
        ("0 0 * * *", "Pacific/Chatham", "2026-06-01T00:00:00Z", ["2026-06-01T11:15:00Z", "2026-06-02T11:15:00Z"]),
        ("0 0 1 1 *", "Pacific/Kiritimati", "2026-06-01T00:00:00Z", ["2026-12-31T10:00:00Z", "2027-12-31T10:00:00Z"]),
        ("0 0 * * *", "utc", "2026-01-01T00:00:00Z", ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]),
        ("0 12 * * *", "America/New_York", "2050-07-01T00:00:00Z", ["2050-07-01T16:00:00Z", "2050-07-02T16:00:00Z"]),
    ] {
        check(text, zone, after, &expected);
    }
}

#[test]
fn what_is_no_expression_is_told_with_its_place() {
    for (text, at, said) in [
        ("61 * * * *", 0..2, "from 0 to 59"),
        ("0 7 * * mno", 8..11, "did you mean `mon`?"),
        ("0 7 * * fri-mon", 8..15, "goes backwards"),
        ("*/0 * * * *", 2..3, "a step is a number"),
        ("* * * *", 0..7, "this has 4"),
        ("1,,2 * * * *", 2..2, "found ``"),
        ("0 0 31 2 *", 4..8, "never comes"),
        ("0 0 * * 5#6", 10..11, "from 1 to 5"),
        ("@dayly", 0..6, "did you mean `@daily`?"),
        ("0 0 1-x * *", 6..7, "from 1 to 31"),
    ] {
        let error = Cron::parse(text).unwrap_err();
        assert_eq!(error.at, at, "{text}: {}", error.message);
        assert!(error.shown(text).contains(said), "{text}: {}", error.shown(text));
    }
    let shown = Cron::parse("0 61 * * *").unwrap_err().shown("0 61 * * *");
    assert!(shown.contains("  0 61 * * *\n    ^^"), "{shown}");
    assert!(Cron::parse(&"*".repeat(300)).is_err());
}

#[test]
fn an_unknown_zone_names_the_nearest_one() {
    for (zone, said) in [("Europe/Belrin", "`Europe/Berlin`"), ("Berlin", "`Europe/Berlin`"), ("", "such")] {
        let error = find_zone(zone).unwrap_err();
        assert!(error.message.contains(said) || error.message.contains("Europe/Berlin"), "{}", error.message);
    }
}

#[test]
fn intervals_are_counted_from_their_anchor_and_skip_nothing() {
    let every = |span, from| Rhythm::Every(Millis(span), Time(from));
    let ticks = |rhythm: Rhythm, after| rhythm.after(Time(after)).take(3).map(|t| t.0).collect::<Vec<_>>();
    assert_eq!(ticks(every(1_000, 0), 500), [1_000, 2_000, 3_000]);
    assert_eq!(ticks(every(1_000, 0), 1_000), [2_000, 3_000, 4_000]);
    assert_eq!(ticks(every(90_000, 7_000), 0), [7_000, 97_000, 187_000]);
    assert_eq!(ticks(every(90_000, 7_000), 97_000), [187_000, 277_000, 367_000]);
    assert_eq!(ticks(Rhythm::At(Time(9)), 8), [9]);
    assert!(ticks(Rhythm::At(Time(9)), 9).is_empty());
    assert_eq!(ticks(every(u64::MAX, 0), 5).len(), 1, "the end of time is no panic");
}

#[test]
fn every_tick_of_a_seconds_schedule_comes() {
    let rhythm = Rhythm::read(&When::Cron { text: "* * * * * *".into(), zone: "UTC".into() }).unwrap();
    let ticks: Vec<u64> = rhythm.after(Time(1_500)).take(1_000).map(|t| t.0).collect();
    assert_eq!(ticks, (2..1_002).map(|s| s * 1_000).collect::<Vec<_>>());
}

#[test]
fn a_delay_is_drawn_from_the_tick_alone() {
    let name = |text: &str| Name::parse(text).unwrap();
    let schedule = Schedule { jitter: Millis(5_000), ..Schedule::new(name("f"), When::At(Time(9))) };
    let draw = |schedule: &Schedule, of: &str, due| schedule.delay(&name(of), Time(due)).0;
    assert_eq!(draw(&schedule, "a", 7), draw(&schedule, "a", 7));
    let drawn: std::collections::BTreeSet<u64> = (0..100).map(|due| draw(&schedule, "a", due)).collect();
    assert!(drawn.len() > 90 && drawn.iter().all(|delay| *delay <= 5_000));
    assert_eq!(draw(&Schedule { jitter: Millis(0), ..schedule }, "a", 7), 0);
}

#[test]
fn what_could_never_tick_is_refused() {
    let flow = || Name::parse("f").unwrap();
    let backfill =
        |from, until, at_once| Backfill { of: flow(), from: Time(from), until: Time(until), at_once, again: false };
    let every = When::Every { span: Millis(1_000), from: Time(0) };
    let refused = |schedule: Schedule| schedule.check(Time(1_000)).unwrap_err().code;
    assert_eq!(refused(Schedule::new(flow(), When::At(Time(1_000)))), "in_the_past");
    assert_eq!(refused(Schedule::new(flow(), When::Every { span: Millis(999), from: Time(0) })), "too_often");
    let with = |backfill| Schedule { backfill: Some(backfill), ..Schedule::new(flow(), every.clone()) };
    assert_eq!(refused(with(backfill(500, 1_001, 1))), "bad_range");
    assert_eq!(refused(with(backfill(500, 400, 1))), "bad_range");
    assert_eq!(refused(with(backfill(1, 500, 0))), "bad_count");
    assert!(with(backfill(1, 500, 1)).check(Time(1_000)).is_ok());
}
