//! Ids of items in a shell: the binary itself is asked for them, where an id may stand.

use clap_complete::Shell;

/// Commands that take the id of an item.
const TAKE_IDS: [&str; 13] = [
    "show", "why", "graph", "history", "update", "close", "reopen", "delete", "claim", "release", "dep", "gate", "add",
];
/// What is asked while somebody types: it must be quick and say nothing but ids. Gates have ids as well.
const ASKED: &str = "edgewise list -q 2>/dev/null; edgewise gate list -q 2>/dev/null";

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
    let commands = TAKE_IDS.join("|");
    format!(
        "_edgewise_with_ids() {{
    _edgewise \"$@\"
    local word=\"${{COMP_WORDS[COMP_CWORD]}}\"
    case \"${{COMP_WORDS[1]}}\" in
        {commands})
            if [[ \"$word\" != -* ]]; then
                COMPREPLY+=($(compgen -W \"$({ASKED})\" -- \"$word\"))
            fi
            ;;
    esac
}}

{wrapped}"
    )
}

fn fish(script: &str) -> String {
    let commands = TAKE_IDS.join(" ");
    format!("{script}complete -c edgewise -n '__fish_seen_subcommand_from {commands}' -a '({ASKED})'\n")
}

/// Whatever is named ID in the help is completed by ids.
fn zsh(script: &str) -> String {
    let named = |line: &str| {
        let line = line.trim_start();
        ["':what", "':id", "'*::ids", "'::what", "'::id", "':on", "'::on", "':gate"]
            .iter()
            .any(|name| line.starts_with(name))
            || line.contains("=[") && line.contains(":ID:_default")
    };
    let lines = script
        .lines()
        .map(|line| if named(line) { line.replace("_default", "_edgewise_ids") } else { line.to_owned() });
    let script = lines.collect::<Vec<_>>().join("\n");
    let ids = format!("_edgewise_ids() {{\n    compadd -- ${{(f)\"$({ASKED})\"}}\n    _default\n}}\n\n");
    // The first line of a script for zsh names the command that it is for.
    match script.split_once('\n') {
        Some((first, rest)) => format!("{first}\n\n{ids}{rest}\n"),
        None => script,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_command_that_takes_ids_is_one_and_every_script_asks_for_them() {
        for name in TAKE_IDS {
            assert!(Cli::tree().get_subcommands().any(|command| command.get_name() == name), "{name}");
        }
        for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::tree(), "edgewise", &mut script);
            let script = completed(shell, String::from_utf8(script).unwrap());
            assert!(script.contains(ASKED), "{shell}");
        }
        let mut script = Vec::new();
        clap_complete::generate(Shell::Zsh, &mut Cli::tree(), "edgewise", &mut script);
        assert!(zsh(&String::from_utf8(script).unwrap()).matches(":_edgewise_ids'").count() > 10);
    }
}
