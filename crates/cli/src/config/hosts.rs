//! The setting `http_allow`: where requests may go besides public addresses. A list, or words with commas between them.

use edgewise_engine::http::Allowed;
use serde::{Deserialize, Deserializer};

/// Hosts and networks, as they were written and as they are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hosts(pub Vec<Allowed>);

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Words(String),
            List(Vec<String>),
        }
        let words = match Written::deserialize(from)? {
            Written::Words(words) => words.split(',').map(|word| word.trim().to_owned()).collect(),
            Written::List(list) => list,
        };
        let allowed = words.iter().filter(|word| !word.is_empty()).map(|word| Allowed::parse(word));
        allowed.collect::<Result<_, _>>().map(Self).map_err(|e| serde::de::Error::custom(e.message))
    }
}
