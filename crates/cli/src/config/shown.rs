//! Settings as they are shown: each key with its value and its origin, in the order of the documentation.

use super::{Config, Origin, Setting};
use clap::ValueEnum;
use edgewise_engine::http::Allowed;
use serde_json::{Value, json};

/// One setting for people and programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// As it is written in a file; `queues.NAME` for one of the queues.
    pub key: String,
    /// What holds; null if there is nothing.
    pub value: Value,
    /// Who said so.
    pub origin: Origin,
}

impl Config {
    /// Every setting there is.
    pub fn shown(&self) -> Vec<Shown> {
        let hosts: Vec<String> = self.http_allow.value.0.iter().map(host).collect();
        let mut all = vec![
            shown("dir", &self.dir, |dir| json!(dir.display().to_string())),
            shown("addr", &self.addr, |addr| json!(addr)),
            shown("as", &self.who, |who| json!(who.as_str())),
            shown("output", &self.output, word),
            shown("color", &self.color, word),
            shown("workers", &self.workers, |workers| json!(workers)),
            shown("http_allow", &self.http_allow, |_| json!(hosts)),
            shown("secrets_file", &self.secrets_file, |file| json!(file)),
            shown("keep_events", &self.keep_events, |kept| json!(kept.map(|kept| kept.to_string()))),
            shown("send_secrets", &self.send_secrets, |names| json!(names.0)),
        ];
        all.extend(self.tables.iter().map(|(key, table)| shown(key, table, |table| json!(table))));
        // What nobody said is a setting too: it shows that there is one.
        for key in ["queues", "retention"] {
            if !self.tables.keys().any(|there| there.split('.').next() == Some(key)) {
                all.push(Shown { key: key.into(), value: Value::Null, origin: Origin::Default });
            }
        }
        all
    }
}

fn shown<T>(key: &str, setting: &Setting<T>, value: impl Fn(&T) -> Value) -> Shown {
    Shown { key: key.to_owned(), value: value(&setting.value), origin: setting.origin.clone() }
}

fn host(allowed: &Allowed) -> String {
    match allowed {
        Allowed::Host(name) => name.clone(),
        Allowed::Network(address, bits) => format!("{address}/{bits}"),
    }
}

fn word<T: ValueEnum>(value: &T) -> Value {
    value.to_possible_value().map_or(Value::Null, |word| json!(word.get_name()))
}

impl Shown {
    /// The value as people read it: `a, b` for a list, `slots 2, rate 10/s` for a table, `-` for nothing.
    pub fn text(&self) -> String {
        let text = match &self.value {
            Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(", "),
            Value::Object(map) => {
                map.iter().map(|(key, value)| format!("{key} {}", plain(value))).collect::<Vec<_>>().join(", ")
            }
            Value::Null => String::new(),
            other => plain(other),
        };
        if text.is_empty() { "-".into() } else { text }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
