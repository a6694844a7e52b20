//! Rhythms: the first line is a cron expression, the second a time zone. What is read ticks on and on, each time later.

use super::{Target, refusal};
use edgewise_core::schedule::{Cron, Rhythm, When};
use edgewise_core::time::Time;

pub const TARGET: Target = Target {
    name: "cron",
    words: &[
        "* ",
        "*/5 ",
        "0 ",
        "59 ",
        "23 ",
        "1-5 ",
        "5-1 ",
        "1,2,3 ",
        "31 ",
        "L ",
        "29 ",
        "feb ",
        "jan-dec ",
        "sun-sat ",
        "5L ",
        "5#2 ",
        "7 ",
        "0-59/7 ",
        "/0 ",
        "@daily",
        "@hourly",
        "\nUTC",
        "\nEurope/Berlin",
        "\nAmerica/New_York",
        "\nAsia/Kathmandu",
        "\nAustralia/Lord_Howe",
        "\nnowhere",
        "99999999999",
        "-1",
        ",",
        "#",
        "?",
        "W",
    ],
    defined: Vec::new,
    attempt,
};

/// Just before clocks are put back in Europe, in 2027.
const BEGIN: Time = Time(1_824_940_000_000);

fn attempt(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "no text".to_owned() };
    let (cron, zone) = text.split_once('\n').unwrap_or((text, "UTC"));
    if let Err(error) = Cron::parse(cron) {
        assert!(cron.get(error.at.clone()).is_some(), "{error:?} stands nowhere");
    }
    let zone = zone.lines().next().unwrap_or("UTC");
    match Rhythm::read(&When::Cron { text: cron.to_owned(), zone: zone.to_owned() }) {
        Ok(rhythm) => {
            let mut last = BEGIN;
            for _ in 0..50 {
                let Some(next) = rhythm.next(last) else { return "fine, and ends".to_owned() };
                assert!(next > last, "after {last:?} comes {next:?}");
                last = next;
            }
            format!("fine {}", (last.0 - BEGIN.0).ilog2() / 3)
        }
        Err(error) => refusal(error.code, &error.message),
    }
}
