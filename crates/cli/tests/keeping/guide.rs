//! The commands of guides are run as they stand there, one after the other, in one folder.

use crate::place::Place;

const KEEPING: &str = include_str!("../../../../docs/guide/keeping.md");
const EVENTS: &str = include_str!("../../../../docs/guide/events.md");

/// The blocks of a language, in order.
fn blocks(guide: &'static str, language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    guide.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Runs all commands of a guide beside some files; how many there were.
fn check(guide: &'static str, files: &[(&str, &str)]) -> usize {
    let place = Place::new(&[]);
    files.iter().for_each(|(name, text)| place.write(name, text));
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_edgewise")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for block in blocks(guide, "console") {
        for part in block.split("$ ").skip(1) {
            let (command, said) = part.split_once('\n').unwrap_or((part, ""));
            let output = place.command("sh").args(["-c", command]).env("PATH", &path).output().unwrap();
            let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(output.status.success(), "{command}: {all}");
            // What differs from day to day is left out in the guide.
            for line in said.lines().filter(|line| !line.is_empty() && !line.contains('…')) {
                assert!(all.contains(line), "{command} should say {line:?}: {all}");
            }
            commands += 1;
        }
    }
    commands
}

#[test]
fn every_command_of_the_guide_does_what_stands_behind_it() {
    let files = [("release.yaml", blocks(KEEPING, "yaml")[0]), ("edgewise.toml", blocks(KEEPING, "toml")[0])];
    let commands = check(KEEPING, &files);
    assert!(commands >= 12, "{commands}");
}

#[test]
fn every_command_of_the_guide_to_domain_events_does_what_stands_behind_it() {
    let commands = check(EVENTS, &[("shipping.yaml", blocks(EVENTS, "yaml")[0])]);
    assert!(commands >= 16, "{commands}");
}
