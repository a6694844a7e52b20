//! The guide to domain events is run as it stands, one command after the other, in one folder.

use crate::place::Place;

const GUIDE: &str = include_str!("../../../../docs/guide/events.md");

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    GUIDE.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn every_command_of_the_guide_to_domain_events_does_what_stands_behind_it() {
    let place = Place::new(&[]);
    place.write("shipping.yaml", blocks("yaml")[0]);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_edgewise")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for block in blocks("console") {
        for part in block.split("$ ").skip(1) {
            let (command, said) = part.split_once('\n').unwrap_or((part, ""));
            let output = place.command("sh").args(["-c", command]).env("PATH", &path).output().unwrap();
            let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(output.status.success(), "{command}: {all}");
            for line in said.lines().filter(|line| !line.is_empty()) {
                assert!(all.contains(line), "{command} should say {line:?}: {all}");
            }
            commands += 1;
        }
    }
    assert!(commands >= 16, "{commands}");
}
