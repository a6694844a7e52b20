//! Settings: the project's file is the input, and its lines `#$ NAME=value` are the environment.

use super::{Target, refusal};
use edgewise_cli::config::{Config, FILE, Flags, MAX_WORKERS, World};

pub const TARGET: Target = Target {
    name: "config",
    words: &[
        "dir",
        "as",
        "output",
        "color",
        "workers",
        "=",
        "\"",
        "'",
        "\"\"\"",
        "\n",
        "[",
        "]",
        "[[",
        "{",
        "}",
        "true",
        "json",
        "table",
        "never",
        "auto",
        "\n#$ EDGEWISE_WORKERS=",
        "\n#$ EDGEWISE_DIR=",
        "\n#$ EDGEWISE_AS=",
        "\n#$ USER=",
        "\n#$ EDGEWISE_FORMAT=",
        "\n#$ EDGEWISE_COLOR=",
        "1979-05-27T07:32:00Z",
        "\\u0000",
        "../..",
        "dir.dir",
        "#",
    ],
    defined: Vec::new,
    attempt,
};

thread_local! {
    static HOME: tempfile::TempDir = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder to be had: {error}"));
}

fn attempt(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    let settings: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("#$ ")?.split_once('=')).collect();
    let var = |name: &str| settings.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    HOME.with(|home| {
        // As bytes: a file need not be text.
        std::fs::write(home.path().join(FILE), input).unwrap_or_else(|error| panic!("{error}"));
        let world = World { cwd: home.path().to_owned(), var: &var, cores: 2 };
        match Config::load(Flags::default(), &world) {
            Ok(config) => {
                assert!((1..=MAX_WORKERS).contains(&config.workers.value));
                let origins = [config.dir.origin, config.who.origin, config.output.origin, config.color.origin];
                let said: Vec<String> = origins.iter().map(|o| o.to_string().chars().take(9).collect()).collect();
                format!("fine {} {:?}", said.join(" "), config.output.value)
            }
            Err(problem) => refusal(problem.code, &problem.what.replace(&*home.path().to_string_lossy(), "")),
        }
    })
}
