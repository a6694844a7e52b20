//! The binary `edgewise`. Everything is in the library beside it, where tests can reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    edgewise_cli::main()
}
