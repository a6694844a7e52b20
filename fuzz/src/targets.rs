//! Targets: what is given inputs, one file each. A further one is a file here, a line in [`ALL`], a folder in
//! `corpus/` with a few good inputs, and a test in `tests/brief.rs`.

mod args;
mod cases;
mod config;
mod control;
mod cron;
mod event;
mod expr;
mod flow;
mod pattern;
mod plan;
mod program;
mod record;
mod rows;
mod wire;
mod work;

/// Something that reads bytes.
#[derive(Debug)]
pub struct Target {
    /// Its name, and that of its folder in `corpus/`.
    pub name: &'static str,
    /// Words of its format.
    pub words: &'static [&'static str],
    /// More of them, as the program itself defines them.
    pub defined: fn() -> Vec<String>,
    /// Gives it one input. It panics if a promise is broken, else it says in a few words how far the input got.
    pub attempt: fn(&[u8]) -> String,
}

/// All of them.
pub static ALL: &[Target] = &[
    args::TARGET,
    cases::TARGET,
    config::TARGET,
    control::TARGET,
    cron::TARGET,
    event::TARGET,
    expr::TARGET,
    flow::TARGET,
    pattern::TARGET,
    plan::TARGET,
    program::TARGET,
    record::TARGET,
    rows::TARGET,
    wire::TARGET,
    work::TARGET,
];

/// A target by its name.
pub fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

/// The mark of an error, after a look at whether it helps whoever gets it.
fn refusal(code: &str, message: &str) -> String {
    assert!(!code.is_empty() && code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
    assert!(message.len() > code.len(), "{code} says only {message:?}");
    format!("{code}: {}", words(message))
}

/// The beginning of a message, up to what it quotes: what is the same for many inputs.
fn words(message: &str) -> String {
    let known = message.split(['`', '"', '\'', '(']).next().unwrap_or_default();
    known.chars().filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(60).collect()
}
