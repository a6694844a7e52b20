//! `edgewise serve`, `edgewise dev`, `edgewise token`: a server, and who may use it.

use super::At;
use clap::{Args, Subcommand, ValueEnum};
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::time::Millis;
use edgewise_server::auth::Role;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// Where a server listens unless it is told otherwise: for this machine alone.
pub const ADDRESS: &str = "127.0.0.1:7420";

/// Where the workspaces of a server are.
const WORKSPACES: &str = "EDGEWISE_WORKSPACES";

/// Where to listen: what was said, and all that it stands for.
#[derive(Debug, Clone)]
pub struct Addresses {
    said: String,
    /// All of them, those of IPv4 first, as whoever names none means them.
    pub all: Vec<SocketAddr>,
}

impl Addresses {
    /// Whether nobody but this machine can reach any of them.
    pub fn are_local(&self) -> bool {
        self.all.iter().all(|address| address.ip().is_loopback())
    }
}

impl FromStr for Addresses {
    type Err = String;

    fn from_str(said: &str) -> Result<Self, String> {
        let wrong =
            |error| format!("{said:?} is no address to listen at ({error}): expected HOST:PORT, such as {ADDRESS}");
        let mut all: Vec<SocketAddr> = said.to_socket_addrs().map_err(wrong)?.collect();
        all.sort_by_key(SocketAddr::is_ipv6);
        if all.is_empty() {
            return Err(format!(
                "{said:?} stands for no address of this machine: expected HOST:PORT, such as {ADDRESS}"
            ));
        }
        Ok(Self { said: said.to_owned(), all })
    }
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

/// Serve the API over HTTP: workers in any language take tasks from it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise serve                         for this machine alone, without tokens
  edgewise serve --work                  and do commands and requests of tasks here
  edgewise token create ann --role admin
  edgewise serve --addr 0.0.0.0:7420 --tls-cert cert.pem --tls-key key.pem
                                         for others, who need a token each
  edgewise serve --workspaces /srv/edgewise
                                         many workspaces, each at /t/TENANT/WORKSPACE")]
pub struct Serve {
    /// Where to listen; any other address than this machine's own needs tokens
    #[arg(long, value_name = "HOST:PORT", default_value = ADDRESS, env = "EDGEWISE_LISTEN")]
    pub addr: Addresses,
    /// Let nobody in without a token, not even programs of this machine: for a server behind a proxy
    #[arg(long)]
    pub require_tokens: bool,
    /// Also do commands and requests of tasks in this process
    #[arg(long)]
    pub work: bool,
    /// Serve every TENANT/WORKSPACE of this folder, at /t/TENANT/WORKSPACE; everybody needs a token of theirs
    #[arg(long, value_name = "DIR", env = WORKSPACES, conflicts_with = "work")]
    pub workspaces: Option<PathBuf>,
    /// Speak TLS with this certificate, or chain of them, in PEM form; a renewed one is noticed
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The certificate's private key, in PEM form
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Be reached from other machines without TLS: something before this server speaks it
    #[arg(long)]
    pub insecure_http: bool,
    /// How often one token may ask, such as 1000/s; without bounds on this machine's own address
    #[arg(long, value_name = "RATE", value_parser = Rate::parse)]
    pub token_rate: Option<Rate>,
    /// How often one address may ask, such as 2000/s; without bounds on this machine's own address
    #[arg(long, value_name = "RATE", value_parser = Rate::parse)]
    pub address_rate: Option<Rate>,
    /// Export spans of runs and attempts to this collector of OTLP over HTTP, such as http://localhost:4318
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub otlp: Option<String>,
}

impl Serve {
    /// A server for whoever tries things out.
    pub fn dev(addr: Addresses) -> Self {
        Self {
            addr,
            require_tokens: false,
            work: true,
            workspaces: None,
            tls_cert: None,
            tls_key: None,
            insecure_http: false,
            token_rate: None,
            address_rate: None,
            otlp: None,
        }
    }
}

/// Serve the API for this machine, and do commands and requests of tasks: all that is needed to try things out.
#[derive(Debug, Args)]
pub struct Dev {
    /// Where to listen
    #[arg(long, value_name = "HOST:PORT", default_value = ADDRESS, env = "EDGEWISE_LISTEN")]
    pub addr: Addresses,
}

/// See who may use the server, and change it.
#[derive(Debug, Args)]
pub struct Token {
    /// Which workspace of those that `serve --workspaces DIR` serves; made with its first token
    #[arg(long, value_name = "TENANT/WORKSPACE", global = true, requires = "workspaces")]
    pub workspace: Option<String>,
    /// Where these workspaces are
    #[arg(long, value_name = "DIR", global = true, env = WORKSPACES)]
    pub workspaces: Option<PathBuf>,
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

/// See who did what at the server: acts, and what was refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise audit                         the newest lines
  edgewise audit --since 1d --json       everything of a day, for programs")]
pub struct Audit {
    /// Nothing before this: how long ago, or an instant
    #[arg(long, value_name = "WHEN", value_parser = At::parse)]
    pub since: Option<At>,
    /// At most so many lines, the newest
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_this_machines_own_only_if_all_it_stands_for_is() {
        for (said, local) in [("localhost:7420", true), ("127.0.0.1:0", true), ("[::1]:1", true), ("0.0.0.0:1", false)]
        {
            assert_eq!(said.parse::<Addresses>().unwrap().are_local(), local, "{said}");
        }
        let both =
            Addresses { said: "x:1".into(), all: vec!["127.0.0.1:1".parse().unwrap(), "10.0.0.1:1".parse().unwrap()] };
        assert!(!both.are_local());
        for bad in ["", "localhost", "7420", "localhost:x", "localhost:70000"] {
            assert!(bad.parse::<Addresses>().unwrap_err().contains("HOST:PORT"), "{bad}");
        }
    }
}
