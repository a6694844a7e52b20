//! Instants and lengths of time in JSON: people and other programs spell them, the core counts milliseconds.

use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use serde_json::Value;

/// Names whose value is an instant.
const INSTANTS: [&str; 12] = [
    "deadline",
    "scheduledFor",
    "waitUntil",
    "dueBefore",
    "createdAt",
    "updatedAt",
    "until",
    "at",
    "closedAt",
    "satisfiedAt",
    "scheduled",
    "time",
];
/// Names whose value is a length of time.
const SPANS: [&str; 2] = ["lease", "ephemeral"];
/// What is somebody else's, and stays as it is.
const THEIRS: &str = "metadata";

/// Spelled instants and lengths of time become milliseconds: `2027-01-31T12:00:00Z`, `30m`.
pub fn counted(value: &mut Value) -> Result<()> {
    each(value, &mut |key, value| {
        let Value::String(text) = &value else { return Ok(()) };
        if INSTANTS.contains(&key) {
            *value = Time::parse(text).map_err(|error| about(key, &error))?.0.into();
        } else if SPANS.contains(&key) {
            *value = Millis::parse(text).map_err(|error| about(key, &error))?.0.into();
        }
        Ok(())
    })
}

/// Milliseconds become spelled instants and lengths of time.
pub fn spelled(value: &mut Value) {
    let spelling = each(value, &mut |key, value| {
        let Some(count) = value.as_u64() else { return Ok(()) };
        if INSTANTS.contains(&key) {
            *value = Time(count).known().map(|time| time.to_string()).into();
        } else if SPANS.contains(&key) {
            *value = Millis(count).to_string().into();
        }
        Ok(())
    });
    debug_assert!(spelling.is_ok());
}

fn each(value: &mut Value, act: &mut impl FnMut(&str, &mut Value) -> Result<()>) -> Result<()> {
    match value {
        Value::Array(all) => all.iter_mut().try_for_each(|one| each(one, act)),
        Value::Object(object) => {
            for (key, value) in object.iter_mut().filter(|(key, _)| *key != THEIRS) {
                act(key, value)?;
                each(value, act)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn about(key: &str, error: &Error) -> Error {
    Error::invalid(error.code, format!("`{key}`: {}", error.message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_spelled_reads_back_and_metadata_is_nobodys_business() {
        let mut value =
            json!({"deadline": "2027-01-31T12:00:00.000Z", "lease": "30m", "metadata": {"deadline": "soon"}});
        let spelling = value.clone();
        counted(&mut value).unwrap();
        assert_eq!(value["deadline"], json!(1_801_396_800_000_u64));
        assert_eq!(value["lease"], json!(1_800_000));
        spelled(&mut value);
        assert_eq!(value, spelling);
        let error = counted(&mut json!({"filter": {"dueBefore": "soon"}})).unwrap_err();
        assert!(error.code == "bad_time" && error.message.starts_with("`dueBefore`"), "{error}");
    }
}
