//! No room: a disk that fills up while tasks run, and files that may not grow.
//!
//! Nothing that was accepted is lost, nothing is half-written, and when there is room again the work goes on.

use crate::place::{Place, SAY, Seen, binary, code_of, lines, output_of, until};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ITEMS: u32 = 120;
const MAX_ATTEMPTS: u16 = 50;

/// Every item leaves 20 kB in the ledger, and as much in its log.
fn flow(place: &Place) {
    let items: Vec<String> = (0..ITEMS).map(|n| n.to_string()).collect();
    let retry = format!("retry: {{ max_attempts: {MAX_ATTEMPTS}, backoff: {{ kind: fixed, base: 50ms }} }}");
    let script = format!("{SAY}; head -c 20000 /dev/zero | tr \"\\\\0\" x");
    place.flow("full", &format!("  wide: {{ each: [{}], run: '{script}', {retry} }}\n", items.join(", ")));
    place.flow("small", "  a: { run: 'true' }\n");
}

/// A small disk of its own; it goes when this does.
struct Disk(tempfile::TempDir);

const DISK: u64 = 64 << 20;
/// What is left on it to begin with: less than the run needs.
const ROOM: u64 = 1 << 20;

impl Disk {
    /// Only root may mount; anybody else is told what was not tested. Who said that it can be done is not.
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let size = format!("size={DISK}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "edgewise-chaos"]).arg(dir.path()).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(dir)),
            why => {
                let must = std::env::var_os("EDGEWISE_CHAOS_MOUNTS").is_some();
                assert!(!must, "a disk of its own must be mounted here, and cannot be: {why:?}");
                eprintln!("NOT TESTED: a full disk of its own cannot be mounted here (root can): {why:?}");
                None
            }
        }
    }

    fn ballast(&self) -> PathBuf {
        self.0.path().join("ballast")
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn a_disk_that_fills_up_delays_a_run_and_loses_nothing_that_was_accepted() {
    let Some(disk) = Disk::mount() else { return };
    let (place, mut seen) = (Place::with_data(disk.data()), Seen::default());
    flow(&place);
    std::fs::write(disk.ballast(), vec![0; (DISK - ROOM) as usize]).unwrap();
    let mut child = place.edgewise(&["run", "full.yaml", "--wait"]).stderr(Stdio::piped()).spawn().unwrap();
    let told = lines(child.stderr.take().unwrap());
    until(&told, "disk is full");
    let mut start = place.edgewise(&["run", "small.yaml", "--detach", "-q"]);
    let (id, why, code) = output_of(start.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let accepted = (code == 0).then(|| id.trim().to_owned());
    if accepted.is_none() {
        assert!(code == 7 && why.contains("full") && why.contains("room"), "{why}");
    }
    std::fs::remove_file(disk.ballast()).unwrap();
    assert_eq!(code_of(child), 0);
    end_well(&place, &mut seen, accepted.as_deref());
}

#[test]
fn files_that_may_not_grow_end_nothing_that_was_accepted() {
    let (place, mut seen) = (Place::new(), Seen::default());
    flow(&place);
    // In blocks of 512 bytes; without the trap the system would end whoever writes too much.
    let limited = format!("trap '' XFSZ; ulimit -f 1500; exec {} run full.yaml --wait", binary());
    let mut child = place.command("sh", &["-c", &limited]).stderr(Stdio::piped()).spawn().unwrap();
    let told = lines(child.stderr.take().unwrap());
    let words = until(&told, "may or may not be done");
    assert!(!words.contains("panicked"), "{words}");
    place.kill_engine(&mut child);
    code_of(child);
    let watch = place.edgewise(&["watch", "@"]).spawn().unwrap();
    assert_eq!(code_of(watch), 0);
    end_well(&place, &mut seen, None);
}

fn end_well(place: &Place, seen: &mut Seen, accepted: Option<&str>) {
    if let Some(run) = accepted {
        assert_eq!(place.said(&["watch", run]).1, 0, "accepted while there was no room");
    }
    place.rest(seen);
    seen.each_once(ITEMS as usize, MAX_ATTEMPTS);
    place.is_sound();
    assert!(is_whole(place.data()));
}

/// SQLite itself finds nothing wrong.
fn is_whole(data: &Path) -> bool {
    ["ledger.db", "state.db"].iter().all(|file| {
        let open = rusqlite::Connection::open(data.join(file)).unwrap();
        open.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0)).unwrap() == "ok"
    })
}
