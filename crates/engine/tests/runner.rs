//! The runner against real processes.
//!
//! Nothing here sleeps or looks at the clock. A [`Witness`] is a named pipe held open by a command and
//! all that it starts: its first line tells that the command is under way, its end that all of them
//! are gone. Scripts start `cat hold` before they set a trap: a shell may swallow a signal that comes
//! between its fork and its exec.

use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::plan::OutputForm;
use edgewise_core::time::Time;
use edgewise_engine::runner::logs::{self, Line, Stream};
use edgewise_engine::runner::{Job, Runner, Stop, orphans};
use rustix::process::{Pid, getpgid, getpgrp};
use std::future::Future;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::oneshot;

/// Long enough for any machine; only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// The shortest grace there is.
const BLINK: Duration = Duration::from_millis(1);

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, future).await.unwrap_or_else(|_| panic!("hangs: {what}"))
}

/// A folder with a working directory, logs, and a pipe `hold` that nobody ever writes to.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        make_pipe(&place.path("hold"));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn job(&self, script: &str) -> Job {
        let run = RunId(77);
        Job {
            run,
            task: "build[3]".into(),
            generation: 2,
            attempt: 4,
            script: script.into(),
            env: vec![],
            output: OutputForm::Text,
            dir: self.dir.path().into(),
            log: logs::log_path(&self.path("logs"), run, TaskIx(9), 2, 4),
            masks: Default::default(),
        }
    }

    fn log(&self) -> Vec<Line> {
        logs::read_all(&self.job("").log).unwrap()
    }

    /// The names of the files beside the log.
    fn traces(&self) -> Vec<String> {
        let dir = std::fs::read_dir(self.job("").log.parent().unwrap()).unwrap();
        let mut names: Vec<_> = dir.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// See the module's comment. A script takes part with `exec 3>witness; echo $$ >&3`.
struct Witness {
    ready: oneshot::Receiver<String>,
    gone: oneshot::Receiver<()>,
}

impl Witness {
    fn of(place: &Place) -> Self {
        let path = place.path("witness");
        make_pipe(&path);
        let (tell_ready, ready) = oneshot::channel();
        let (tell_gone, gone) = oneshot::channel();
        // A thread of its own: when a test fails, nobody waits for it.
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(std::fs::File::open(path).unwrap());
            let mut line = String::new();
            pipe.read_line(&mut line).unwrap();
            let _ = tell_ready.send(line.trim().to_owned());
            pipe.read_to_end(&mut Vec::new()).unwrap();
            let _ = tell_gone.send(());
        });
        Self { ready, gone }
    }

    async fn ready(&mut self) -> String {
        within("the command does not start", &mut self.ready).await.unwrap()
    }

    async fn gone(self) {
        within("a process of the group lives on", self.gone).await.unwrap();
    }
}

async fn run_with(runner: Runner, job: Job) -> Result<String, Failure> {
    let output = within("the attempt does not end", runner.run(job, Stop::new())).await?;
    Ok(output.map_or("-".into(), |output| output.get().to_owned()))
}

async fn run(job: Job) -> Result<String, Failure> {
    run_with(Runner::default(), job).await
}

#[tokio::test]
async fn a_command_that_exits_with_zero_succeeds_with_its_output() {
    let place = Place::new();
    for (form, script, expected) in [
        (OutputForm::Text, "echo hello", r#""hello""#),
        (OutputForm::Text, "true", r#""""#),
        (OutputForm::Json, r#"echo '{"a": [1, 2]}'"#, r#"{"a":[1,2]}"#),
        (OutputForm::Json, "true", "-"),
        (OutputForm::Lines, r"printf 'a\nb\n'", r#"["a","b"]"#),
        (
            OutputForm::Text,
            "-n 2>/dev/null; echo a script that looks like an option",
            "\"a script that looks like an option\"",
        ),
        (OutputForm::Text, "cat; echo stdin is empty", r#""stdin is empty""#),
        (OutputForm::Text, "echo noise; printf result > $EDGEWISE_OUTPUT", r#""result""#),
        (OutputForm::Text, "rm $EDGEWISE_OUTPUT; echo from stdout", r#""from stdout""#),
    ] {
        let job = Job { output: form, ..place.job(script) };
        assert_eq!(run(job).await.as_deref(), Ok(expected), "{script}");
        assert_eq!(place.traces(), ["9-2-4.log"], "nothing but the log stays: {script}");
    }
}

#[tokio::test]
async fn an_output_left_by_an_earlier_process_is_not_taken_for_ours() {
    let place = Place::new();
    let job = place.job("echo mine");
    std::fs::create_dir_all(job.log.parent().unwrap()).unwrap();
    std::fs::write(job.log.with_extension("out"), "not mine").unwrap();
    assert_eq!(run(job).await.as_deref(), Ok(r#""mine""#));
}

#[tokio::test]
async fn output_that_is_not_json_fails_and_shows_what_was_found() {
    let place = Place::new();
    let failure = run(Job { output: OutputForm::Json, ..place.job("echo oh no") }).await.unwrap_err();
    assert_eq!(failure.kind, "bad_output");
    assert!(failure.message.contains("oh no"), "{}", failure.message);
}

#[tokio::test]
async fn a_failure_names_the_exit_code_and_the_last_words_on_stderr() {
    let place = Place::new();
    let failure =
        run(place.job("echo fine; echo first >&2; echo; printf 'the disk\nis full' >&2; exit 3")).await.unwrap_err();
    assert_eq!(failure.kind, "exit_3");
    assert_eq!(failure.message, "the command exited with code 3: first\nthe disk\nis full");
    let failure = run(place.job("exit 4")).await.unwrap_err();
    assert_eq!(failure.message, "the command exited with code 4 and said nothing on stderr");
}

#[tokio::test]
async fn a_command_killed_by_a_signal_fails_with_its_number() {
    let place = Place::new();
    let failure = run(place.job("kill -9 $$")).await.unwrap_err();
    assert_eq!(failure.kind, "signal_9");
    assert!(failure.message.contains("SIGKILL"), "{}", failure.message);
}

#[tokio::test]
async fn a_command_that_cannot_be_started_says_why() {
    let place = Place::new();
    let failure = run(Job { dir: place.path("nowhere"), ..place.job("true") }).await.unwrap_err();
    assert_eq!(failure.kind, "spawn_failed");
    assert!(failure.message.contains("nowhere is not a directory"), "{}", failure.message);
    let long = vec![("LONG".to_owned(), "x".repeat(8 << 20))];
    let failure = run(Job { env: long, ..place.job("true") }).await.unwrap_err();
    assert_eq!(failure.kind, "spawn_failed");
    assert!(failure.message.contains("too long"), "{}", failure.message);
    assert_eq!(place.traces(), ["9-2-4.log"]);

    std::fs::write(place.path("file"), "").unwrap();
    let failure = run(Job { log: place.path("file/log"), ..place.job("true") }).await.unwrap_err();
    assert_eq!(failure.kind, "spawn_failed");
    assert!(failure.message.contains("writable"), "{}", failure.message);
}

#[tokio::test]
async fn a_command_is_told_who_it_is() {
    let place = Place::new();
    let script = "echo $PWD; echo $EDGEWISE_RUN $EDGEWISE_TASK $EDGEWISE_GENERATION $EDGEWISE_ATTEMPT; \
                  echo $EDGEWISE_KEY; echo $MINE; echo ${PATH:+inherited}";
    let env = vec![("MINE".to_owned(), "my own".to_owned()), ("EDGEWISE_RUN".to_owned(), "forged".to_owned())];
    let dir = std::fs::canonicalize(place.dir.path()).unwrap();
    let job = Job { env, output: OutputForm::Lines, dir: dir.clone(), ..place.job(script) };
    let run_id = RunId(77).to_string();
    let expected = serde_json::json!([
        dir,
        format!("{run_id} build[3] 2 4"),
        format!("{run_id}/build[3]/2"),
        "my own",
        "inherited"
    ]);
    assert_eq!(run(job.clone()).await.unwrap(), expected.to_string());
    let key = |attempt| Job { attempt, output: OutputForm::Text, script: "echo $EDGEWISE_KEY".into(), ..job.clone() };
    assert_eq!(run(key(1)).await, run(key(2)).await, "the key is the same for every attempt");
}

#[tokio::test]
async fn stdout_and_stderr_are_kept_in_the_log_line_by_line() {
    let place = Place::new();
    let clock = || Time(1_234);
    let script = r"echo one; echo two >&2; printf 'no\377end'";
    run_with(Runner { clock, ..Runner::default() }, place.job(script)).await.unwrap();
    let said = |stream| {
        let log = place.log();
        log.iter().filter(|l| l.stream == stream && l.at == Time(1_234)).map(|l| l.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(said(Stream::Out), ["one", "no\u{fffd}end"]);
    assert_eq!(said(Stream::Err), ["two"]);
}

#[tokio::test]
async fn a_line_is_in_the_log_while_the_command_still_runs() {
    let place = Place::new();
    make_pipe(&place.path("go"));
    let job = place.job("echo begun; read word < go; echo $word");
    let log = job.log.clone();
    let running = tokio::spawn(run(job));
    let seen = async {
        while logs::read_all(&log).map_or(true, |lines| lines.is_empty()) {
            tokio::task::yield_now().await;
        }
    };
    within("the line does not get to the log", seen).await;
    std::fs::write(place.path("go"), "on\n").unwrap();
    assert_eq!(running.await.unwrap().as_deref(), Ok(r#""begun\non""#));
}

#[tokio::test]
async fn more_than_the_log_holds_is_dropped_and_the_command_goes_on() {
    let place = Place::new();
    let runner = Runner { log_bytes: 100_000, ..Runner::default() };
    let script = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo; echo done > $EDGEWISE_OUTPUT";
    assert_eq!(run_with(runner, place.job(script)).await.as_deref(), Ok(r#""done""#));
    let log = place.log();
    assert!(log.last().unwrap().text.contains("cut here"));
    assert_eq!(log.last().unwrap().stream, Stream::Note);
    assert!(log.iter().map(|line| line.text.len()).sum::<usize>() <= 100_100);
}

#[tokio::test]
async fn an_output_over_the_limit_is_refused() {
    let place = Place::new();
    let failure = run(place.job("head -c 17000000 /dev/zero | tr '\\0' x")).await.unwrap_err();
    assert_eq!(failure.kind, "output_too_large");
}

#[tokio::test]
async fn all_that_a_command_wrote_before_it_exited_is_its_output() {
    let place = Place::new();
    let runner = Runner { drain_grace: BLINK, log_bytes: 100_000, ..Runner::default() };
    // Others keep stdout open and stderr full, so that neither pipe ever comes to its end.
    let script = "yes >&2 & cat hold & head -c 60000 /dev/zero | tr '\\0' x";
    let output = run_with(runner, place.job(script)).await.unwrap();
    assert_eq!(output.len(), 60_002);
}

#[tokio::test]
async fn a_command_leads_a_process_group_of_its_own() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let stop = Stop::new();
    let running = tokio::spawn(Runner::default().run(place.job("exec 3>witness; echo $$ >&3; cat hold"), stop.clone()));
    let pid = Pid::from_raw(witness.ready().await.parse().unwrap()).unwrap();
    assert_eq!(getpgid(Some(pid)), Ok(pid));
    assert_ne!(pid, getpgrp());
    stop.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().kind, "cancelled");
    witness.gone().await;
}

#[tokio::test]
async fn a_cancelled_command_may_clean_up() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let stop = Stop::new();
    let script = "exec 3>witness; cat hold & trap 'echo swept; echo yes > swept; exit 0' TERM; echo $$ >&3; wait";
    let runner = Runner { stop_grace: HANG, ..Runner::default() };
    let running = tokio::spawn(runner.run(place.job(script), stop.clone()));
    witness.ready().await;
    stop.cancel();
    assert_eq!(within("cancel", running).await.unwrap().unwrap_err().kind, "cancelled", "whatever its exit code");
    assert!(place.path("swept").exists());
    assert_eq!(place.log().last().unwrap().text, "swept");
    assert_eq!(place.traces(), ["9-2-4.log"]);
    witness.gone().await;
}

#[tokio::test]
async fn a_program_may_clean_up_even_when_its_shell_is_gone_first() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let stop = Stop::new();
    // The work in the trap stands for a slow clean-up: far longer than the shell takes to die.
    let program = "cat hold & trap 'head -c 99000000 /dev/zero | cat >/dev/null; echo yes > swept; exit 0' TERM; \
                   echo $$ >&3; wait";
    let script = format!("exec 3>witness; sh -c \"{}\"; true", program.replace('$', "\\$"));
    let runner = Runner { stop_grace: HANG, drain_grace: BLINK, ..Runner::default() };
    let running = tokio::spawn(runner.run(place.job(&script), stop.clone()));
    witness.ready().await;
    stop.cancel();
    assert_eq!(within("cancel", running).await.unwrap().unwrap_err().kind, "cancelled");
    assert!(place.path("swept").exists());
    witness.gone().await;
}

#[tokio::test]
async fn a_group_that_ignores_the_request_to_end_is_killed() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let stop = Stop::new();
    let script = "exec 3>witness; trap '' TERM; cat hold & cat hold & echo $$ >&3; wait; cat hold";
    let runner = Runner { stop_grace: BLINK, ..Runner::default() };
    let running = tokio::spawn(runner.run(place.job(script), stop.clone()));
    witness.ready().await;
    stop.cancel();
    assert_eq!(within("cancel", running).await.unwrap().unwrap_err().kind, "cancelled");
    witness.gone().await;
}

#[tokio::test]
async fn an_attempt_cancelled_before_it_began_starts_nothing() {
    let place = Place::new();
    let stop = Stop::new();
    stop.cancel();
    let failure = Runner::default().run(place.job("echo > started"), stop).await.unwrap_err();
    assert_eq!(failure.kind, "cancelled");
    assert!(!place.path("started").exists() && !place.path("logs").exists());
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipes_open_holds_nobody_up_and_is_ended() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let runner = Runner { drain_grace: BLINK, ..Runner::default() };
    let job = place.job("exec 3>witness; cat hold & echo $$ >&3; echo done");
    assert_eq!(run_with(runner, job).await.as_deref(), Ok(r#""done""#));
    witness.ready().await;
    witness.gone().await;
}

#[tokio::test]
async fn a_grandchild_that_never_stops_talking_holds_nobody_up() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let runner = Runner { drain_grace: BLINK, log_bytes: 100_000, ..Runner::default() };
    let job = place.job("exec 3>witness; yes >&2 & echo $$ >&3; echo done");
    assert_eq!(run_with(runner, job).await.as_deref(), Ok(r#""done""#));
    witness.ready().await;
    witness.gone().await;
}

#[tokio::test]
async fn dropping_the_future_kills_the_group_and_removes_its_traces() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let running = tokio::spawn(run(place.job("exec 3>witness; trap '' TERM; cat hold & echo $$ >&3; wait; cat hold")));
    witness.ready().await;
    assert_eq!(place.traces(), ["9-2-4.log", "9-2-4.out", "9-2-4.pid"]);
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert_eq!(place.traces(), ["9-2-4.log"]);
    witness.gone().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_running_group_can_be_ended_from_its_pid_file_alone() {
    let place = Place::new();
    let mut witness = Witness::of(&place);
    let running = tokio::spawn(run(place.job("exec 3>witness; cat hold & echo $$ >&3; wait; cat hold")));
    witness.ready().await;
    let ended = orphans::end_all(&place.path("logs")).unwrap();
    assert_eq!(ended, orphans::Ended { killed: 1, spared: 0 });
    assert_eq!(within("the group", running).await.unwrap().unwrap_err().kind, "signal_9");
    witness.gone().await;
}
