//! The order of things on the disk, as the kernel saw it: nothing is told to anybody, and no script is started,
//! before the ledger's last write was synced.

use crate::place::{HANG, Place, SAY, binary, code_of, lines};
use rustix::process::{Signal, kill_process};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What matters of a trace, in the order in which the kernel finished it.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    /// The ledger's log was written to.
    Written,
    /// It was synced.
    Synced,
    /// The script of a task was started.
    Started,
    /// Something was printed for the caller.
    Told,
}

/// Reads what `strace -f -y` wrote. A call that is interrupted by another line counts where it is resumed.
fn read(trace: &str, script: &str) -> Vec<Call> {
    let mut pending: Vec<(&str, &str)> = Vec::new();
    let mut calls = Vec::new();
    for line in trace.lines() {
        let (pid, call) = line.split_once(' ').unwrap_or((line, ""));
        let call = call.trim_start();
        if call.ends_with("<unfinished ...>") {
            // A write begins to matter at once; a sync only when it is over.
            calls.extend(sort(call, script).filter(|c| *c == Call::Written));
            pending.push((pid, call));
            continue;
        }
        let begun = pending.iter().position(|(by, _)| *by == pid).filter(|_| call.starts_with("<... "));
        match begun.map(|at| pending.remove(at).1) {
            Some(begun) if is_good(call) => calls.extend(sort(begun, script).filter(|c| *c != Call::Written)),
            Some(_) => {}
            None if is_good(call) => calls.extend(sort(call, script)),
            None => {}
        }
    }
    calls
}

fn is_good(call: &str) -> bool {
    !call.contains(" = -1 ")
}

fn sort(call: &str, script: &str) -> impl Iterator<Item = Call> {
    let on_ledger = call.contains("ledger.db-wal>");
    let name = call.split('(').next().unwrap_or("");
    let found = match name {
        "pwrite64" | "write" if on_ledger => Some(Call::Written),
        "fdatasync" | "fsync" if on_ledger => Some(Call::Synced),
        "write" if call.starts_with("write(1<") => Some(Call::Told),
        "write" | "sendto" if call.contains("<socket:") && call.contains(r#"\"ok\":"#) => Some(Call::Told),
        "write" | "writev" | "sendto" if call.contains("<socket:") && call.contains("HTTP/1.1 20") => Some(Call::Told),
        "execve" if call.contains(script) => Some(Call::Started),
        _ => None,
    };
    found.into_iter()
}

/// Where something was told or started while a write was not synced yet.
fn too_early(calls: &[Call]) -> Option<usize> {
    let mut synced = true;
    calls.iter().position(|call| {
        match call {
            Call::Written => synced = false,
            Call::Synced => synced = true,
            Call::Started | Call::Told => return !synced,
        }
        false
    })
}

/// The binary under strace, which writes to the file `trace`; `None` if there is no strace.
fn traced(place: &Place, args: &[&str]) -> Option<Command> {
    if let Err(error) = Command::new("strace").arg("--version").output() {
        eprintln!("NOT TESTED: the order of writes and syncs needs strace (`cargo xtask test` installs it): {error}");
        return None;
    }
    let calls = "trace=write,writev,sendto,pwrite64,fsync,fdatasync,execve";
    let mut strace = place.command("strace", &["-f", "-y", "-s", "200", "-e", calls, "-o", "trace", binary()]);
    strace.args(args);
    Some(strace)
}

fn calls(place: &Place, script: &str) -> Vec<Call> {
    read(&std::fs::read_to_string(place.path().join("trace")).unwrap(), script)
}

#[test]
fn no_script_starts_before_the_sync_of_its_grant() {
    let place = Place::new();
    // One after the other, so that at each start nothing else is being written.
    let chain = (1..20).map(|n| format!("  t{n}: {{ after: t{}, run: 'true # marked' }}\n", n - 1));
    let tasks: String = std::iter::once("  t0: { run: 'true # marked' }\n".to_owned()).chain(chain).collect();
    place.flow("chain", &tasks);
    let Some(mut strace) = traced(&place, &["run", "chain.yaml", "--wait", "-q"]) else { return };
    assert!(strace.status().unwrap().success());
    let calls = calls(&place, "marked");
    assert_eq!(calls.iter().filter(|c| **c == Call::Started).count(), 20);
    assert!(calls.iter().filter(|c| **c == Call::Synced).count() >= 20, "{calls:?}");
    assert_eq!(too_early(&calls), None, "{calls:?}");
}

#[test]
fn nothing_is_answered_before_it_is_synced() {
    let place = Place::new();
    // Two would have to say yes, so that it is still open for the cancel.
    place.flow(
        "ask",
        &format!("  a: {{ run: '{SAY}' }}\n  ask: {{ after: a, gate: {{ approval: {{ count: 2 }} }} }}\n"),
    );
    let Some(mut strace) = traced(&place, &["run", "ask.yaml", "--wait"]) else { return };
    let engine = strace.spawn().unwrap();
    // By then the engine listens, and answers whoever asks.
    place.line();
    let gate = |act| ["gate", act, "@", "ask"];
    let begun = Instant::now();
    // It is refused until the gate is open; from then on nothing is committed but what is asked here.
    while place.said(&gate("approve")).1 != 0 {
        assert!(begun.elapsed() < HANG, "the gate does not open");
    }
    let asked = [&gate("withdraw")[..], &gate("approve"), &["cancel", "@"]];
    asked.iter().for_each(|args| assert_eq!(place.said(args).1, 0, "{args:?}"));
    code_of(engine);
    let calls = calls(&place, "no script");
    assert!(calls.iter().filter(|c| **c == Call::Told).count() > asked.len(), "{calls:?}");
    assert_eq!(too_early(&calls), None, "{calls:?}");
}

#[test]
fn nothing_is_answered_over_http_before_it_is_synced() {
    let place = Place::new();
    // Nothing of it is told to anybody else, so that nothing else is written meanwhile.
    place.flow("idle", "  nobody: { action: nobody }\n");
    let Some(mut strace) = traced(&place, &["serve", "--addr", "127.0.0.1:0", "-q"]) else { return };
    let mut server = strace.stdout(Stdio::piped()).spawn().unwrap();
    let told = lines(server.stdout.take().unwrap());
    let addr = told.recv_timeout(HANG).expect("the server does not listen");
    let said = |args: &[&str]| {
        let mut command = place.edgewise(args);
        command.env("EDGEWISE_ADDR", &addr).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let before = place.engine().expect("the server is the engine");
    let asked = 5;
    for _ in 0..asked {
        let run = said(&["run", "idle.yaml", "--detach", "-q"]);
        said(&["cancel", &run]);
    }
    kill_process(before, Signal::TERM).unwrap();
    code_of(server);
    let calls = calls(&place, "no script");
    assert!(calls.iter().filter(|c| **c == Call::Told).count() >= 2 * asked, "{calls:?}");
    assert!(calls.iter().filter(|c| **c == Call::Synced).count() >= 2 * asked, "{calls:?}");
    assert_eq!(too_early(&calls), None, "{calls:?}");
}

#[test]
fn what_is_too_early_is_found_in_a_trace() {
    let wal = "9</x/ledger.db-wal>";
    let check = |lines: &[&str], expected: Option<usize>| {
        let trace: String = lines.iter().map(|line| line.replace("WAL", wal) + "\n").collect();
        assert_eq!(too_early(&read(&trace, "marked")), expected, "{trace}");
    };
    let (write, sync, told) = ("7 pwrite64(WAL, \"\") = 4", "7 fdatasync(WAL) = 0", "8 write(1<pipe:[3]>, \"id\") = 2");
    check(&[write, sync, told], None);
    check(&[write, told, sync], Some(1));
    check(&[write, "8 writev(7<socket:[3]>, [{iov_base=\"HTTP/1.1 201 Created\"}], 1) = 9", sync], Some(1));
    check(&[write, sync, write, "9 execve(\"/bin/sh\", [\"marked\"]) = 0", sync], Some(3));
    // A sync counts when it is over, and only if it went well.
    check(&[write, "7 fdatasync(WAL <unfinished ...>", told, "7 <... fdatasync resumed>) = 0"], Some(1));
    check(&[write, "7 fdatasync(WAL <unfinished ...>", "7 <... fdatasync resumed>) = 0", told], None);
    check(&[write, "7 fdatasync(WAL) = -1 EIO (Input/output error)", told], Some(1));
}
