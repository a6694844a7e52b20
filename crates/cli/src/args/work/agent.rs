//! Commands for agents: `prime`, `mcp`.

use clap::Args;

/// Print what an agent must know to work here.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise prime                put it before an agent's task")]
pub struct Prime {}

/// Serve the work graph to an agent: the Model Context Protocol, on stdin and stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise mcp --as robin       what an agent's configuration would start")]
pub struct Mcp {}
