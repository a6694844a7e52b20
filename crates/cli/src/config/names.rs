//! The setting `send_secrets`: names of secrets. A list, or words with commas between them.

use edgewise_core::name::Name;
use serde::{Deserialize, Deserializer};

/// Names, as they were written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names(pub Vec<Name>);

impl<'de> Deserialize<'de> for Names {
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
        let names = words.iter().filter(|word| !word.is_empty()).map(|word| Name::parse(word));
        names.collect::<Result<_, _>>().map(Self).map_err(|e| serde::de::Error::custom(e.message))
    }
}
