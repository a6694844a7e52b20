//! What is said about programs that are wrong.

use super::said;

#[test]
fn every_problem_is_said_at_its_place_with_what_to_do_about_it() {
    let golden = include_str!("../golden/text_problems.txt");
    let mut anew = golden.split("\n%% ").next().unwrap_or_default().to_owned();
    let mut count = 0;
    for case in golden.split("\n%% ").skip(1) {
        let (sentence, rest) = case.split_once('\n').unwrap();
        let program: Vec<&str> = rest.lines().filter(|line| !line.starts_with("=> ")).collect();
        let program = program.join("\n");
        let found = said(&format!("{}\n", program.trim_end()));
        assert!(!found.is_empty(), "{sentence}");
        let told: Vec<String> = found.iter().map(|line| format!("=> {line}\n")).collect();
        anew += &format!("\n%% {sentence}\n{}\n{}", program.trim_end(), told.concat());
        count += 1;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/text_problems.txt"), &anew).unwrap();
        return;
    }
    assert!(count >= 30, "only {count} cases were read");
    for (found, expected) in anew.split("\n%% ").zip(golden.split("\n%% ")) {
        assert_eq!(found.trim_end(), expected.trim_end());
    }
}
