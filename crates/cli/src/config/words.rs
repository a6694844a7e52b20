//! Settings of several words: a list, or one text with commas between them. `http_allow` and `send_secrets` are such.

use edgewise_core::name::Name;
use edgewise_engine::http::Allowed;
use serde::{Deserialize, Deserializer};

/// The setting `http_allow`: where requests may go besides public addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hosts(pub Vec<Allowed>);

/// The setting `send_secrets`: names of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names(pub Vec<Name>);

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, Allowed::parse).map(Self)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, Name::parse).map(Self)
    }
}

fn read<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: impl Fn(&str) -> edgewise_core::Result<T>,
) -> Result<Vec<T>, D::Error> {
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
    let all = words.iter().filter(|word| !word.is_empty()).map(|word| parse(word));
    all.collect::<Result<_, _>>().map_err(|e| serde::de::Error::custom(e.message))
}
