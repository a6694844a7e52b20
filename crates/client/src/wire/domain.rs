//! Domain events and webhooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The queues of domain events.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Namespaces {
    /// One for each namespace that has events.
    pub namespaces: Vec<NamespaceListed>,
}

/// One queue.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NamespaceListed {
    /// Its name.
    pub namespace: String,
    /// How many events are in it.
    pub events: u64,
    /// The place of the first.
    pub first: u64,
    /// The place of the last.
    pub last: u64,
    /// Who reads it and acknowledges, and where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumers: Vec<ConsumerListed>,
}

/// Somebody who reads a queue.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ConsumerListed {
    /// What it is called.
    pub name: String,
    /// Everything up to here is dealt with.
    pub place: u64,
    /// When it said so, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Events of a queue, in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct DomainEvents {
    /// The events.
    pub events: Vec<DomainEventAt>,
    /// Where the next page begins, if there may be one: `after` of the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One event in its queue.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DomainEventAt {
    /// Its place: what is acknowledged.
    pub place: u64,
    /// The event, as CloudEvents 1.0 has it.
    pub event: Value,
}

/// A consumer has dealt with everything up to a place.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledge {
    /// What the consumer is called.
    pub consumer: String,
    /// The place of the last event that it has dealt with.
    pub place: u64,
}

/// A consumer that is gone.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetConsumer {
    /// What the consumer is called.
    pub consumer: String,
}

/// Where a consumer is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Acknowledged {
    /// Everything up to here is dealt with.
    pub place: u64,
}

/// A webhook to be made.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookRequest {
    /// The namespace whose events are sent.
    pub namespace: String,
    /// Where they are sent.
    pub url: String,
    /// Only events of these names; of all if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// A webhook that was made.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WebhookMade {
    /// What it is called.
    pub id: String,
    /// What its messages are signed with. It is not shown again.
    pub secret: String,
}

/// A page of webhooks.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Webhooks {
    /// Without their secrets.
    pub webhooks: Vec<WebhookListed>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// One webhook.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WebhookListed {
    /// What it is called.
    pub id: String,
    /// The namespace whose events are sent.
    pub namespace: String,
    /// Where they are sent.
    pub url: String,
    /// Only events of these names; of all if there are none.
    #[serde(default)]
    pub names: Vec<String>,
    /// Why it is told nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// Everything up to here was sent.
    pub place: u64,
    /// How many events could not be sent.
    pub dead: usize,
    /// When it was made, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<String>,
}

/// What a webhook could not be told.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetters {
    /// In the order of the queue.
    pub dead: Vec<DeadLetterListed>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One event that could not be sent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetterListed {
    /// Its place in the queue.
    pub place: u64,
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Why it was not taken.
    pub why: String,
    /// When it was given up, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// What is to be sent again: all dead letters, or what stands between two places.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayRequest {
    /// The first place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    /// The last place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// How much is sent again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Replayed {
    /// So many events.
    pub events: usize,
    /// The place of the first that is left, if they were too many at once: go on there when these were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}
