//! `edgewise claim` and `edgewise release`: having an item for a while.

use clap::Args;
use edgewise_core::id::Token;
use edgewise_core::time::Millis;

/// Have an item for a while: nobody else gets it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise claim ew-7k2
  edgewise claim ew-7k2 --lease 2h
  edgewise claim ew-7k2 --token TOKEN     have it for longer: the lease begins anew

An item whose lease is over is free again by itself. The token proves that an item is yours.")]
pub struct Claim {
    /// An item: its id, its beginning, or @ for the last one
    #[arg(value_name = "ID")]
    pub id: String,
    /// For how long, without a heartbeat
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = Millis::parse)]
    pub lease: Millis,
    /// The token of your claim: have it for longer
    #[arg(long, value_name = "TOKEN", value_parser = Token::parse)]
    pub token: Option<Token>,
}

/// Give a claim back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise release ew-7k2")]
pub struct Release {
    /// An item: its id, its beginning, or @ for the last one
    #[arg(value_name = "ID")]
    pub id: String,
    /// The token of your claim; not needed by whoever has it
    #[arg(long, value_name = "TOKEN", value_parser = Token::parse)]
    pub token: Option<Token>,
}
