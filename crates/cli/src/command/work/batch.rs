//! `edgewise batch`: several operations as one commit.

use super::{act, last, spelled};
use crate::args::Batch;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::work::Op;
use serde_json::Value;
use std::path::Path;

pub(crate) fn perform(args: &Batch, context: &mut Context<'_>) -> Result<Exit> {
    let text = read(args.file.as_deref(), context.cwd)?;
    let ops = ops(&text, &context.config.dir.value)?;
    if ops.is_empty() {
        return Err(Problem::new(Kind::Invalid, "empty_batch", "there is no operation in what was read")
            .next("give one JSON object a line: see `edgewise batch --help`"));
    }
    act::perform_once(&ops, args.key.clone(), context)?;
    Ok(Exit::Ok)
}

/// A file, or stdin.
pub(crate) fn read(file: Option<&Path>, cwd: &Path) -> Result<String> {
    match file {
        Some(file) if file != Path::new("-") => {
            std::fs::read_to_string(cwd.join(file)).map_err(|error| Problem::file("read", file, &error))
        }
        _ => std::io::read_to_string(std::io::stdin()).map_err(|error| {
            Problem::new(Kind::Unavailable, "no_input", "stdin could not be read").why(error.to_string())
        }),
    }
}

/// Reads operations, one JSON object a line; the error names the line.
fn ops(text: &str, dir: &Path) -> Result<Vec<Op>> {
    let mut ops = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |what: String| {
            Problem::new(Kind::Invalid, "bad_operation", format!("line {}: {what}", number + 1))
                .next("mend the line; nothing was written")
        };
        let mut value: Value = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
        spelled::counted(&mut value).map_err(|error| bad(error.message))?;
        last::typed_in(dir, &mut value)?;
        ops.push(Op::read(value).map_err(|error| Problem { code: error.code, ..bad(error.message) })?);
    }
    Ok(ops)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_operation_and_instants_are_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let text = "{\"op\":\"add\",\"title\":\"A\",\"as\":\"a\",\"deadline\":\"2027-01-31T12:00:00Z\"}\n\n\
                    {\"op\":\"claim\",\"id\":\"$a\",\"lease\":\"30m\"}\n";
        let ops = ops(text, folder.path()).unwrap();
        let [Op::Add(add), Op::Claim { lease, .. }] = ops.as_slice() else { panic!("{ops:?}") };
        assert_eq!((add.deadline.unwrap().0, lease.0), (1_801_396_800_000, 1_800_000));
    }

    #[test]
    fn what_is_no_operation_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        for (text, code, said) in [
            ("{\"op\":\"add\",\"title\":\"A\"}\nx", "bad_operation", "line 2"),
            ("{\"op\":\"adt\"}", "bad_operation", "unknown variant `adt`"),
            ("{\"op\":\"add\",\"title\":\"A\",\"colour\":1}", "bad_operation", "colour"),
            ("{\"op\":\"add\",\"title\":\"A\",\"deadline\":\"soon\"}", "bad_operation", "`deadline`"),
            ("{\"op\":\"depend\",\"id\":\"a\",\"on\":\"b\",\"type\":\"blox\"}", "unknown_dependency_type", "blox"),
            ("{\"op\":\"undepend\",\"id\":\"a\",\"type\":\"blox\"}", "unknown_dependency_type", "blox"),
            ("{\"op\":\"close\",\"id\":\"@\"}", "no_last_item", "@"),
            ("{\"op\":\"add\",\"title\":\"A\",\"needs\":[\"@\"]}", "no_last_item", "@"),
        ] {
            let problem = ops(text, folder.path()).unwrap_err();
            assert!(problem.code == code && problem.what.contains(said), "{text}: {problem:?}");
        }
    }
}
