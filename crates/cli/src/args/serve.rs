//! `edgewise serve`, `edgewise dev`, `edgewise token`: a server, and who may use it.

use clap::{Args, Subcommand, ValueEnum};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_server::auth::Role;
use std::net::SocketAddr;

/// Where a server listens unless it is told otherwise: for this machine alone.
pub const ADDRESS: &str = "127.0.0.1:7420";

/// Serve the API over HTTP: workers in any language take tasks from it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise serve                         for this machine alone, without tokens
  edgewise serve --work                  and do commands and requests of tasks here
  edgewise token create ann --role admin; edgewise serve --addr 0.0.0.0:7420
                                         for others, who need a token each")]
pub struct Serve {
    /// Where to listen; any other address than this machine's own needs tokens
    #[arg(long, value_name = "HOST:PORT", default_value = ADDRESS, env = "EDGEWISE_LISTEN")]
    pub addr: SocketAddr,
    /// Also do commands and requests of tasks in this process
    #[arg(long)]
    pub work: bool,
}

/// Serve the API for this machine, and do commands and requests of tasks: all that is needed to try things out.
#[derive(Debug, Args)]
pub struct Dev {
    /// Where to listen
    #[arg(long, value_name = "HOST:PORT", default_value = ADDRESS, env = "EDGEWISE_LISTEN")]
    pub addr: SocketAddr,
}

/// See who may use the server, and change it.
#[derive(Debug, Args)]
pub struct Token {
    /// What to do.
    #[command(subcommand)]
    pub command: TokenCommand,
}

/// What can be done about tokens.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token; its text is shown once and cannot be shown again.
    Create(TokenCreate),
    /// List tokens, without their secrets.
    List,
    /// Take a token away: whoever has it is refused from then on.
    Revoke {
        /// Whose token
        #[arg(value_parser = Name::parse)]
        name: Name,
    },
}

/// A new token.
#[derive(Debug, Args)]
pub struct TokenCreate {
    /// Whose it is: this name is written beside everything that is done with it
    #[arg(value_parser = Name::parse)]
    pub name: Name,
    /// What its owner is trusted with
    #[arg(long, value_enum)]
    pub role: RoleWord,
    /// Not good any more after so long; for ever if not said
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub expires: Option<Millis>,
}

/// A role as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoleWord {
    /// Looks at everything
    Viewer,
    /// Starts runs and acts on them
    Operator,
    /// Takes tasks and reports them
    Worker,
    /// Looks, and speaks to gates
    Approver,
    /// Everything
    Admin,
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Viewer => Self::Viewer,
            RoleWord::Operator => Self::Operator,
            RoleWord::Worker => Self::Worker,
            RoleWord::Approver => Self::Approver,
            RoleWord::Admin => Self::Admin,
        }
    }
}
