//! Ids of items and runs, and names of schedules, in a shell: the binary itself is asked for them, where one may stand.

use clap_complete::Shell;

/// Commands that take the id of an item.
const TAKE_IDS: [&str; 13] = [
    "show", "why", "graph", "history", "update", "close", "reopen", "delete", "claim", "release", "dep", "gate", "add",
];
/// Commands that take the id of a run.
const TAKE_RUNS: [&str; 19] = [
    "show", "why", "graph", "history", "watch", "logs", "events", "timing", "what-if", "cancel", "pause", "resume",
    "resolve", "give-up", "rerun", "freeze", "unfreeze", "task", "gate",
];
/// Commands that take the name of a schedule.
const TAKE_SCHEDULES: [&str; 1] = ["schedule"];
/// What is asked while somebody types: it must be quick and say nothing but ids. Gates have ids as well.
const ASKED: &str = "edgewise list -q 2>/dev/null; edgewise gate list -q 2>/dev/null";
const ASKED_RUNS: &str = "edgewise runs -q 2>/dev/null";
const ASKED_SCHEDULES: &str = "edgewise schedule list -q 2>/dev/null";
/// Who takes what.
const ALL: [(&[&str], &str); 3] = [(&TAKE_IDS, ASKED), (&TAKE_RUNS, ASKED_RUNS), (&TAKE_SCHEDULES, ASKED_SCHEDULES)];

/// A script that also completes ids.
pub(super) fn completed(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => bash(&script),
        Shell::Fish => fish(&script),
        Shell::Zsh => zsh(&script),
        _ => script,
    }
}

/// The function that completes words is wrapped by one that adds ids.
fn bash(script: &str) -> String {
    let wrapped = script.replace("complete -F _edgewise ", "complete -F _edgewise_with_ids ");
    let adds = ALL.map(|(commands, asked)| {
        let commands = commands.join("|");
        format!(
            "    case \"${{COMP_WORDS[1]}}\" in
        {commands}) COMPREPLY+=($(compgen -W \"$({asked})\" -- \"$word\")) ;;
    esac
"
        )
    });
    format!(
        "_edgewise_with_ids() {{
    _edgewise \"$@\"
    local word=\"${{COMP_WORDS[COMP_CWORD]}}\"
    [[ \"$word\" == -* ]] && return
{}}}

{wrapped}",
        adds.concat()
    )
}

fn fish(script: &str) -> String {
    let adds = ALL.map(|(commands, asked)| {
        let commands = commands.join(" ");
        format!("complete -c edgewise -n '__fish_seen_subcommand_from {commands}' -a '({asked})'\n")
    });
    script.to_owned() + &adds.concat()
}

/// Whatever is named ID, RUN or after a schedule in the help is completed by those. What could be either is both.
fn zsh(script: &str) -> String {
    let lines = script.lines().map(|line| match by(line) {
        Some(function) => line.replace("_default", function),
        None => line.to_owned(),
    });
    let script = lines.collect::<Vec<_>>().join("\n");
    let asked = [("_edgewise_ids", ASKED), ("_edgewise_runs", ASKED_RUNS), ("_edgewise_schedules", ASKED_SCHEDULES)];
    let adds =
        asked.map(|(name, asked)| format!("{name}() {{\n    compadd -- ${{(f)\"$({asked})\"}}\n    _default\n}}\n\n"));
    let both = format!("_edgewise_any() {{\n    compadd -- ${{(f)\"$({ASKED_RUNS})\"}}\n    _edgewise_ids\n}}\n\n");
    // The first line of a script for zsh names the command that it is for.
    match script.split_once('\n') {
        Some((first, rest)) => format!("{first}\n\n{}{both}{rest}\n", adds.concat()),
        None => script,
    }
}

/// The function that completes what a line of a script for zsh is about.
fn by(line: &str) -> Option<&'static str> {
    let line = line.trim_start();
    let is = |names: &[&str]| {
        names.iter().any(|name| {
            let rest = line.strip_prefix("':").map(|rest| rest.strip_prefix(':').unwrap_or(rest));
            rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with(" -- "))
        })
    };
    let ids = ["':id", "'*::ids", "'::id", "':on", "'::on", "':gate"].iter().any(|name| line.starts_with(name));
    match () {
        () if is(&["what"]) => Some("_edgewise_any"),
        () if is(&["run"]) => Some("_edgewise_runs"),
        () if line.starts_with("':name -- Its name:") => Some("_edgewise_schedules"),
        () if ids || line.contains("=[") && line.contains(":ID:_default") => Some("_edgewise_ids"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_command_that_takes_ids_is_one_and_every_script_asks_for_them() {
        for name in ALL.iter().flat_map(|(commands, _)| *commands) {
            assert!(Cli::tree().get_subcommands().any(|command| command.get_name() == *name), "{name}");
        }
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::tree(), "edgewise", &mut script);
            let script = completed(shell, String::from_utf8(script).unwrap());
            for (_, asked) in ALL {
                assert!(script.contains(asked), "{shell} does not ask {asked}");
            }
        }
        let mut script = Vec::new();
        clap_complete::generate(Shell::Zsh, &mut Cli::tree(), "edgewise", &mut script);
        let script = zsh(&String::from_utf8(script).unwrap());
        for (function, least) in [("ids", 10), ("runs", 10), ("any", 3), ("schedules", 3)] {
            let found = script.matches(&format!(":_edgewise_{function}'")).count();
            assert!(found >= least, "{function}: {found}");
        }
    }
}
