//! `edgewise domain` and `edgewise webhook`: what the outside world is told, and who is told.

use clap::{Args, Subcommand};
use edgewise_core::name::Name;

/// See what the outside world is told of runs, and acknowledge it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise domain list                        the queues, and who reads them
  edgewise domain read shop                   the events of a namespace
  edgewise domain read shop --follow --json   and those to come, as CloudEvents
  edgewise domain read shop --consumer billing
                                              what billing has not acknowledged
  edgewise domain ack shop --consumer billing 17
  edgewise domain forget shop billing         one that is gone: nothing is kept for it any more")]
pub struct Domain {
    /// What to do.
    #[command(subcommand)]
    pub command: DomainCommand,
}

/// What can be done about domain events.
#[derive(Debug, Subcommand)]
pub enum DomainCommand {
    /// List the namespaces that have events, and who reads them.
    List,
    /// Print the events of a namespace, in order.
    Read(DomainRead),
    /// Say that a consumer has dealt with everything up to a place.
    Ack(DomainAck),
    /// Forget a consumer that is gone: the queue waits for it no more. Should it come back, it begins anew.
    Forget(DomainForget),
}

/// Which events.
#[derive(Debug, Args)]
pub struct DomainRead {
    /// The namespace: a flow's name, or what it says under `namespace:`
    #[arg(value_parser = Name::parse)]
    pub namespace: Name,
    /// Only what this consumer has not acknowledged
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    pub consumer: Option<Name>,
    /// Only what stands behind this place
    #[arg(long, value_name = "PLACE", conflicts_with = "consumer")]
    pub after: Option<u64>,
    /// At most so many
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// Go on with those that come, until stopped
    #[arg(short, long)]
    pub follow: bool,
}

/// What was dealt with.
#[derive(Debug, Args)]
pub struct DomainAck {
    /// The namespace
    #[arg(value_parser = Name::parse)]
    pub namespace: Name,
    /// The place of the last event that was dealt with
    pub place: u64,
    /// What the consumer is called; one that is not known yet is made
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    pub consumer: Name,
}

/// Who is gone.
#[derive(Debug, Args)]
pub struct DomainForget {
    /// The namespace
    #[arg(value_parser = Name::parse)]
    pub namespace: Name,
    /// What the consumer is called
    #[arg(value_parser = Name::parse)]
    pub consumer: Name,
}

/// See which addresses are told of events, and change it. They are told while `edgewise serve` or `edgewise dev` runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise webhook add shop https://example.org/hook --name order.shipped
  edgewise webhook dead 0f3a…             what it could not be told
  edgewise webhook replay 0f3a…           send that again
  edgewise webhook rotate 0f3a…           another secret; the old one is good for a day")]
pub struct Webhook {
    /// What to do.
    #[command(subcommand)]
    pub command: WebhookCommand,
}

/// What can be done about webhooks.
#[derive(Debug, Subcommand)]
pub enum WebhookCommand {
    /// Make a webhook; its secret is shown once and cannot be shown again.
    Add(WebhookAdd),
    /// List webhooks, without their secrets.
    List,
    /// Take a webhook away.
    Remove {
        /// Which
        id: String,
    },
    /// Give a webhook another secret; messages are signed with the old one too, for a day.
    Rotate {
        /// Which
        id: String,
    },
    /// List what a webhook could not be told.
    Dead {
        /// Which
        id: String,
    },
    /// Send all dead letters again, or what stands between two places, and switch the webhook on.
    Replay(WebhookReplay),
}

/// A new webhook.
#[derive(Debug, Args)]
pub struct WebhookAdd {
    /// The namespace whose events are sent
    #[arg(value_parser = Name::parse)]
    pub namespace: Name,
    /// Where they are sent
    pub url: String,
    /// Only events of this name; may be said again
    #[arg(long = "name", value_name = "NAME", value_parser = Name::parse)]
    pub names: Vec<Name>,
}

/// What is sent again.
#[derive(Debug, Args)]
pub struct WebhookReplay {
    /// Which webhook
    pub id: String,
    /// The first place
    #[arg(long, value_name = "PLACE", requires = "to")]
    pub from: Option<u64>,
    /// The last place
    #[arg(long, value_name = "PLACE", requires = "from")]
    pub to: Option<u64>,
}
