//! Flow files that are as hard on the reader as their size allows: what it costs to read them grows with their size,
//! and stays within what a megabyte may cost.

use super::{collected, output};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How large the files are, in bytes.
const SMALL: usize = 32 << 10;
const LARGE: usize = 128 << 10;
/// What four times the size may cost, as a multiple of four.
const GROWTH: f64 = 1.4;
/// Instructions a byte: what lets 1 MB be read in 100 ms, at the ten million a millisecond that this code comes to, and a
/// tenth for what the command does besides.
const MOST: f64 = 1_100.0;

/// The beginning of a file, what is repeated until it is large enough (with its number for `%`), and the end.
type Shape = (&'static str, &'static str, &'static str, &'static str);

const SHAPES: [Shape; 40] = [
    ("tasks.yaml", "flow: f\ntasks: {", "a%: {run: x}, ", "}\n"),
    ("blocks.yaml", "flow: f\ntasks:\n", "  a%:\n    run: x\n", ""),
    ("distinct.yaml", "flow: f\ntasks: {", "a%: {run: y%}, ", "}\n"),
    ("waiting.yaml", "flow: f\ntasks:\n a: {run: x}\n", " a%: {run: x, after: [a]}\n", ""),
    ("text.yaml", "flow: f\ntasks:\n a:\n  run: \"", "xyz % ", "\"\n"),
    ("lines.yaml", "flow: f\ntasks:\n a:\n  run: |\n", "    x\n", ""),
    ("comments.yaml", "flow: f\n", "#\n", "tasks: {a: {run: x}}\n"),
    ("holes.yaml", "flow: f\ninputs: {x: {}}\ntasks:\n a:\n  action: b\n  with: \"", "${{inputs.x}}", "\"\n"),
    ("bad-holes.yaml", "flow: f\ntasks:\n a:\n  action: b\n  with: \"", "${{b}}", "\"\n"),
    ("misplaced.yaml", "flow: f\ntasks:\n a:\n  action: b\n  each: [", "'${{',", "]\n"),
    ("keys.yaml", "flow: f\ntasks:\n", " a%: {rum: x}\n", ""),
    ("same.yaml", "flow: f\ntasks:\n", " a: {run: x}\n", ""),
    ("lets.yaml", "flow: f\nlet: {", "a%: 1, ", "}\ntasks: {a: {run: x}}\n"),
    ("policies.yaml", "flow: f\ntasks:\n", " a%: {run: x, retry: {max_attempts: 3}, timeout: 3s}\n", ""),
    ("list.yaml", "flow: f\ntasks:\n a:\n  action: b\n  with: [", "1,", "]\n"),
    ("nested.yaml", "flow: f\ntasks:\n a:\n  action: b\n  with: [", "[[1]], ", "]\n"),
    ("maps.yaml", "flow: f\ntasks:\n a:\n  action: b\n  with: [", "{a: 1}, ", "]\n"),
    ("json.yaml", "{\"flow\": \"f\", \"tasks\": {\"a\": {\"action\": \"b\", \"with\": [", "{\"a\":1},", "1]}}}\n"),
    ("whens.yaml", "flow: f\ninputs: {x: {}}\ntasks: {", "a%: {run: x, when: inputs.x == %}, ", "}\n"),
    ("numbers.flow", "flow f(a):\n", "    x=1\n", ""),
    ("names.flow", "flow f(a):\n", "    x%=a\n", ""),
    ("small.flow", "flow f(a):\n", "    x = a + %\n", ""),
    ("sums.flow", "flow f(a):\n", "    x = 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+%\n", ""),
    ("sums-of-names.flow", "flow f(a):\n", "    x = a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+%\n", ""),
    ("lists.flow", "flow f(a):\n", "    x = [a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,%]\n", ""),
    ("dense.flow", "flow f(a):\n", " @a(k=a)\n", ""),
    ("spreads.flow", "flow f(a):\n", " spread a:x -> @b(k=x)\n", ""),
    ("again.flow", "flow f(a):\n    x = 1\n", "    x += 1\n", ""),
    ("actions.flow", "flow f(a):\n", "    x = @a(k=a)\n", ""),
    ("policies.flow", "flow f(a):\n", "    @a() [E -> retry: 3, backoff: 5s] [timeout: 2m]\n", ""),
    ("branches.flow", "flow f(a):\n", "    if a:\n        x = 1\n", ""),
    ("handlers.flow", "flow f(a):\n", "    try:\n        x = 1\n    except E:\n        x = 2\n", ""),
    ("functions.flow", "flow f():\n    g0()\nfn g0():\n    pass\n", "fn g%x():\n    pass\n", ""),
    ("calls.flow", "fn g(a):\n    x = 1\nflow f():\n", "    g(1)\n", ""),
    ("flows.flow", "", "flow g%():\n    pass\n", ""),
    ("lost.flow", "", "flow g%():\n    h()\n", ""),
    ("comments.flow", "flow f(a):\n    pass\n", "    #\n", ""),
    ("huge.flow", "flow f(a):\n    x = [", "a, ", "]\n"),
    ("foreign.flow", "flow f(a):\n", "    x = a and a\n", ""),
    ("unknown.flow", "flow f(a):\n", "    x = b\n", ""),
];

fn text((_, head, piece, tail): &Shape, size: usize) -> String {
    let mut text = (*head).to_owned();
    let mut number = 0;
    while text.len() < size {
        text += &piece.replace('%', &number.to_string());
        number += 1;
    }
    text + tail
}

/// A function that half of the file is the body of, and that the other half calls.
fn body_and_calls(size: usize) -> String {
    let body = "    a = 1\n".repeat(size / 20);
    format!("fn g(a):\n{body}flow f():\n{}", "    g(1)\n".repeat(size / 18))
}

/// Counts all of them; says which cost the most.
pub(super) fn check(binary: &Path) -> Result<String, String> {
    let made = |shape: &Shape| (shape.0, text(shape, SMALL), text(shape, LARGE));
    let both = ("body-and-calls.flow", body_and_calls(SMALL), body_and_calls(LARGE));
    let mut worst = (0.0, "");
    for (name, small, large) in SHAPES.iter().map(made).chain([both]) {
        let (less, more) = (reading(binary, name, &small)?, reading(binary, name, &large)?);
        let grown = (more / large.len() as f64) / (less / small.len() as f64);
        let each = (more - less) / (large.len() - small.len()) as f64;
        if grown > GROWTH || each > MOST {
            return Err(format!("{name}: {each:.0} instructions a byte, {grown:.2} times as many in a larger file"));
        }
        worst = if each > worst.0 { (each, name) } else { worst };
    }
    Ok(format!("at most {:.0} instructions for a byte of a flow file ({})", worst.0, worst.1))
}

/// How large a file is whose reading is timed, and how long that may take.
const TIMED: usize = 1_000_000;
const SOON: Duration = Duration::from_millis(100);

/// Times all of them at 1 MB, the fastest of three; says which took the longest to read. For a quiet machine.
pub(super) fn times(binary: &Path) -> Result<String, String> {
    let both = ("body-and-calls.flow", body_and_calls(TIMED));
    let mut all: Vec<(Duration, &str)> = Vec::new();
    for (name, text) in SHAPES.iter().map(|shape| (shape.0, text(shape, TIMED))).chain([both]) {
        let file = written(name, &text)?;
        let times = timed(binary, &file);
        let _ = std::fs::remove_file(&file);
        let (read, checked) = times?;
        let ms = |took: Duration| took.as_secs_f64() * 1_000.0;
        println!("{:>8.1} ms read, {:>8.1} ms checked  {name}", ms(read), ms(checked));
        all.push((read, name));
    }
    let slow: Vec<&str> = all.iter().filter(|(took, _)| *took > SOON).map(|(_, name)| *name).collect();
    let (longest, name) = all.iter().max().copied().unwrap_or_default();
    let line = format!("1 MB of flow file is read within {longest:.1?} ({name})");
    if slow.is_empty() { Ok(line) } else { Err(format!("{line}: more than {SOON:?} for {}", slow.join(", "))) }
}

/// How long reading a file takes at best, and a whole `edgewise check` of it, its start included.
fn timed(binary: &Path, file: &Path) -> Result<(Duration, Duration), String> {
    let mut read = Command::new(binary);
    let read = read.args(["bench", "--read"]).arg(file).output().map_err(|e| e.to_string())?;
    let micros = String::from_utf8_lossy(&read.stdout).trim().parse();
    let micros = micros.map_err(|_| format!("{}: {}", file.display(), String::from_utf8_lossy(&read.stderr)))?;
    let check = || {
        let mut command = Command::new(binary);
        command.arg("check").arg(file);
        let began = Instant::now();
        let done = command.output().map_err(|e| format!("{command:?} could not be started: {e}"))?;
        let took = began.elapsed();
        // A flow with problems ends in failure, which is what is timed as well; a signal is something else.
        done.status.code().map(|_| took).ok_or_else(|| format!("{command:?} was ended by a signal"))
    };
    let checks = (0..3).map(|_| check()).collect::<Result<Vec<_>, _>>()?;
    Ok((Duration::from_micros(micros), checks.into_iter().min().unwrap_or_default()))
}

fn written(name: &str, text: &str) -> Result<PathBuf, String> {
    let file = std::env::temp_dir().join(format!("edgewise-{}-{name}", std::process::id()));
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    Ok(file)
}

/// The instructions of one `edgewise check`.
fn reading(binary: &Path, name: &str, text: &str) -> Result<f64, String> {
    let file = written(name, text)?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary).arg("check").arg(&file);
    // A flow with problems ends in failure, which is what is counted as well.
    let said = output(&mut command).unwrap_or_else(|said| said);
    let _ = std::fs::remove_file(&file);
    collected(&said).map(|count| count as f64).ok_or_else(|| format!("{name} could not be counted: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_as_large_as_asked_for_and_numbers_its_pieces() {
        let shape = text(&("", "head\n", "a%\n", "tail"), 20);
        assert_eq!(shape, "head\na0\na1\na2\na3\na4\ntail");
    }
}
