//! What is wrong with a setting that a file has, in words of whoever wrote it: which key, on which line, what is expected.

use super::Problem;
use super::file::nearest;
use edgewise_core::Kind;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where something stands in a file.
pub(super) struct Text<'a> {
    /// The file.
    pub path: &'a Path,
    /// All of it.
    pub text: &'a str,
}

impl Text<'_> {
    /// The line of a place.
    pub fn line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].matches('\n').count() + 1
    }

    pub fn refuse(&self, at: usize, why: &str) -> Problem {
        let what = format!("{}:{}: {why}", self.path.display(), self.line(at));
        Problem::new(Kind::Invalid, "bad_config", what)
    }

    /// Why a value of the file could not be read.
    pub fn misfit(&self, key: &str, value: &Spanned<DeValue<'_>>, error: &toml::de::Error) -> Problem {
        let span = error.span().unwrap_or_else(|| value.span());
        let keys = value.get_ref().as_table().and_then(|table| keys(table, span.start)).unwrap_or_default();
        let path: Vec<&str> = std::iter::once(key).chain(keys.iter().map(String::as_str)).collect();
        let (last, above) = path.split_last().unwrap_or((&key, &[]));
        let (table, whole) = (above.join("."), path.join("."));
        let message = error.message().trim_end();
        if let Some(known) = message.strip_prefix("unknown field ") {
            let names: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
            let (name, names) = names.split_first().unwrap_or((last, &[]));
            let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let near = nearest(name, names).map(|near| format!("did you mean `{near}`?"));
            let table = if name == last { table } else { whole };
            return self
                .refuse(span.start, &format!("there is no `{name}` in [{table}]"))
                .next(near.unwrap_or_else(|| format!("it takes {listed}")));
        }
        if message.starts_with("missing field ") {
            return self.refuse(span.start, &format!("[{whole}] has a {message}")).next("say it there");
        }
        let of = if above.is_empty() { format!("`{last}`") } else { format!("`{last}` of [{table}]") };
        let written = self.text.get(span.clone()).unwrap_or_default();
        self.refuse(span.start, &format!("{of} cannot be {written}")).why(expected(message))
    }
}

/// The keys that lead to a place in a table, outermost first.
fn keys(table: &DeTable<'_>, at: usize) -> Option<Vec<String>> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref().to_string();
        let below = value.get_ref().as_table().and_then(|inner| keys(inner, at));
        match below {
            Some(below) => Some(std::iter::once(name).chain(below).collect()),
            None => (key.span().contains(&at) || value.span().contains(&at)).then(|| vec![name]),
        }
    })
}

/// A reason without the names that types have in our code.
pub(super) fn expected(message: &str) -> String {
    let Some((_, wanted)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let wanted = match wanted {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number, without quotes",
        "a string" | "path string" => "a text, in quotes",
        "a boolean" => "true or false, without quotes",
        "a map" | "struct Table" => "a table",
        other if message.starts_with("invalid ") || message.starts_with("unknown ") => other,
        _ => return message.to_owned(),
    };
    format!("expected {wanted}")
}
