//! The output of a command: the file it was offered if it wrote there, else its stdout.

use super::pipes::Captured;
use crate::nesting::{compact, is_deep};
use edgewise_core::event::Failure;
use edgewise_core::limits;
use edgewise_core::plan::OutputForm;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// How much of an output that cannot be read is shown.
const SHOWN_CHARS: usize = 100;

/// Reads the output in the form the flow asks for. `None` is null.
pub(super) fn read(form: OutputForm, file: &Path, stdout: Captured) -> Result<Option<Box<RawValue>>, Failure> {
    let (source, found) = match written(file)? {
        Some(found) => ("$EDGEWISE_OUTPUT", found),
        None => ("stdout", stdout),
    };
    if found.over {
        return Err(too_large());
    }
    let text = String::from_utf8_lossy(&found.bytes);
    let output = match form {
        OutputForm::Text => to_raw_value(without_last_break(&text)).map(Some),
        OutputForm::Lines => to_raw_value(&text.lines().collect::<Vec<_>>()).map(Some),
        OutputForm::Json if found.bytes.trim_ascii().is_empty() => Ok(None),
        OutputForm::Json => return json(source, &found.bytes).map(Some),
    };
    match output {
        Ok(Some(output)) if output.get().len() > limits::OUTPUT_BYTES => Err(too_large()),
        Ok(output) => Ok(output),
        Err(e) => Err(Failure::new("bad_output", format!("{source} could not be written as JSON: {e}"))),
    }
}

/// What the command wrote to the file it was offered; `None` if nothing.
fn written(path: &Path) -> Result<Option<Captured>, Failure> {
    let unreadable = |e| Failure::new("bad_output", format!("$EDGEWISE_OUTPUT could not be read: {e}"));
    match std::fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable(e)),
        // Opening a pipe could wait for ever.
        Ok(found) if !found.is_file() => {
            let why = "$EDGEWISE_OUTPUT must stay a file: write to it, do not put something else in its place";
            return Err(Failure::new("bad_output", why));
        }
        Ok(found) if found.len() == 0 => return Ok(None),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(limits::OUTPUT_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let over = bytes.len() > limits::OUTPUT_BYTES;
    Ok(Some(Captured { bytes, over }))
}

fn without_last_break(text: &str) -> &str {
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

/// One JSON value, kept as it is written but for the space around its parts: numbers lose nothing.
fn json(source: &str, bytes: &[u8]) -> Result<Box<RawValue>, Failure> {
    let bad = |why: String| {
        let text = String::from_utf8_lossy(bytes);
        let shown: String = text.trim().chars().take(SHOWN_CHARS).collect();
        Failure::new(
            "bad_output",
            format!(
                "expected one JSON value on {source} (`output: json`), found {shown:?}{}: {why}; \
                 send everything else to stderr",
                if text.trim().len() > shown.len() { " and more" } else { "" }
            ),
        )
    };
    // Read in full, so that whoever evaluates it later finds nothing to stumble over.
    let _: Value = serde_json::from_slice(bytes).map_err(|e| bad(e.to_string()))?;
    let text = std::str::from_utf8(bytes).map_err(|e| bad(e.to_string()))?;
    if is_deep(text) {
        return Err(bad(format!("it is nested deeper than {} levels", limits::DEPTH)));
    }
    RawValue::from_string(compact(text)).map_err(|e| bad(e.to_string()))
}

fn too_large() -> Failure {
    let most = limits::OUTPUT_BYTES >> 20;
    Failure::new(
        "output_too_large",
        format!("the output is larger than {most} MiB as JSON: write it to a file and output the file's name"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_stdout(form: OutputForm, bytes: &[u8]) -> Result<String, Failure> {
        let stdout = Captured { bytes: bytes.to_vec(), over: false };
        read(form, Path::new("/nonexistent/output"), stdout).map(|o| o.map_or("-".into(), |o| o.get().to_owned()))
    }

    fn check(form: OutputForm, bytes: &[u8], expected: &str) {
        assert_eq!(from_stdout(form, bytes).unwrap(), expected, "{:?}", String::from_utf8_lossy(bytes));
    }

    #[test]
    fn a_text_is_kept_but_for_its_last_line_break() {
        check(OutputForm::Text, b"", r#""""#);
        check(OutputForm::Text, b"one\n", r#""one""#);
        check(OutputForm::Text, b"one\r\n", r#""one""#);
        check(OutputForm::Text, b"one\r", r#""one\r""#);
        check(OutputForm::Text, b" a\n\n", r#"" a\n""#);
        check(OutputForm::Text, b"\xffx", "\"\u{fffd}x\"");
    }

    #[test]
    fn lines_become_a_list() {
        check(OutputForm::Lines, b"", "[]");
        check(OutputForm::Lines, b"a\nb\n", r#"["a","b"]"#);
        check(OutputForm::Lines, b"a\r\n\nb", r#"["a","","b"]"#);
        check(OutputForm::Lines, b"\xff\n", "[\"\u{fffd}\"]");
    }

    #[test]
    fn json_loses_only_the_space_between_its_parts() {
        check(OutputForm::Json, b"", "-");
        check(OutputForm::Json, b" \n", "-");
        check(OutputForm::Json, b"null", "null");
        check(
            OutputForm::Json,
            b"{ \"b\" : [1.50, 12345678901234567890123],\n\t\"a b\\\" \\\\\" : \" x \" }\n",
            r#"{"b":[1.50,12345678901234567890123],"a b\" \\":" x "}"#,
        );
    }

    #[test]
    fn what_is_not_one_json_value_is_refused_and_shown() {
        let nested = "[".repeat(limits::DEPTH + 1) + &"]".repeat(limits::DEPTH + 1);
        for (bytes, why) in [
            (b"hello\n".as_slice(), "found \"hello\": expected value"),
            (b"{} {}", "trailing characters"),
            (b"{\"a\":", "EOF"),
            (b"\"\\ud800\"", "hex escape"),
            (b"\"\xff\"", "found \"\\\"\u{fffd}\\\"\""),
            (nested.as_bytes(), "deeper than 64"),
            ("x".repeat(200).as_bytes(), "xxx\" and more"),
        ] {
            let failure = from_stdout(OutputForm::Json, bytes).unwrap_err();
            assert_eq!(failure.kind, "bad_output");
            assert!(failure.retryable && failure.message.contains(why), "{}", failure.message);
        }
    }

    #[test]
    fn an_output_over_the_limit_is_refused_in_any_form() {
        let quotes = vec![b'"'; limits::OUTPUT_BYTES / 2];
        for form in [OutputForm::Text, OutputForm::Lines] {
            assert_eq!(from_stdout(form, &quotes).unwrap_err().kind, "output_too_large", "it doubles when escaped");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![b' '; limits::OUTPUT_BYTES + 1]).unwrap();
        let failure = read(OutputForm::Json, file.path(), Captured::default()).unwrap_err();
        assert_eq!(failure.kind, "output_too_large");
    }

    #[test]
    fn the_file_wins_over_stdout_even_over_too_much_of_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let endless = || Captured { bytes: b"noise".to_vec(), over: true };
        assert_eq!(read(OutputForm::Text, file.path(), endless()).unwrap_err().kind, "output_too_large");
        std::fs::write(file.path(), b"signal").unwrap();
        let output = read(OutputForm::Text, file.path(), endless()).unwrap().unwrap();
        assert_eq!(output.get(), r#""signal""#);
    }

    #[test]
    fn something_else_in_the_place_of_the_file_is_refused() {
        // A device, like a named pipe, has no end and no length.
        let failure = read(OutputForm::Text, Path::new("/dev/null"), Captured::default()).unwrap_err();
        assert_eq!(failure.kind, "bad_output");
    }
}
