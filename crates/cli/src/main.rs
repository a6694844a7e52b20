//! The binary `edgewise`. Everything is in the library beside it, where tests can reach it.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    edgewise_cli::main()
}
