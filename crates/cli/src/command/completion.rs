//! `edgewise completion`: the script by which a shell completes what is typed. It is made from the commands
//! themselves, so it can miss none of them. Ids of items and runs are asked for while somebody types.

mod ids;

use super::Context;
use crate::args::{Cli, Completion, Shell};
use crate::exit::Exit;
use crate::problem::Result;
use clap_complete::generate;

pub(super) fn perform(args: &Completion, context: &mut Context<'_>) -> Result<Exit> {
    context.printer.bytes(&script(args.shell))?;
    Ok(Exit::Ok)
}

fn script(shell: Shell) -> Vec<u8> {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    // Into memory: the generator panics if its reader is gone.
    let mut script = Vec::new();
    generate(shell, &mut Cli::tree(), "edgewise", &mut script);
    ids::completed(shell, String::from_utf8_lossy(&script).into_owned()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &clap::Command, script: &str, shell: Shell) {
        for inner in command.get_subcommands() {
            assert!(script.contains(inner.get_name()), "{shell:?} misses {}", inner.get_name());
            let options = inner.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long);
            for option in options {
                assert!(script.contains(option), "{shell:?} misses --{option} of {}", inner.get_name());
            }
            check(inner, script, shell);
        }
    }

    #[test]
    fn every_shell_knows_every_command_and_its_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            check(&Cli::tree(), &String::from_utf8(script(shell)).unwrap(), shell);
        }
    }
}
