//! Power that fails in the middle of a write: the log of the ledger is cut at every sector, and what is left is
//! whole commits. No part of a batch over several streams is ever visible, and every run goes on to its end.
//!
//! And each scenario, with the power failing in each of its writes: some sectors of it reached the disk and some did
//! not, in any order; what comes up again brings the run to the same end.

mod power;

use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Command, Grant};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::Reader;
use edgewise_sim::driver::{claim_of, finish_of, home, start_of};
use edgewise_sim::flows::{ONE, flow};
use edgewise_store::{Ledger, sqlite};
use std::path::Path;

/// What a disk writes in one piece.
const SECTOR: usize = 512;
/// Runs that every commit is about.
const RUNS: usize = 3;

struct Life {
    committer: Committer<()>,
    now: Time,
}

impl Life {
    fn over(dir: &Path, seed: u8) -> Self {
        let stores = sqlite::open(dir).unwrap();
        let entropy = Entropy::from_seed([seed; 32]);
        let source = format!("e{seed}").as_str().into();
        let (ledger, rows) = (Box::new(stores.ledger), Box::new(stores.projections));
        let mut committer = Committer::new(ledger, rows, home(), source, entropy);
        let now = Time(1_000_000_000 + u64::from(seed) * 3_600_000);
        committer.recover(now).unwrap();
        Self { committer, now }
    }

    /// One commit for all of these.
    fn ask(&mut self, commands: Vec<Command>) -> Vec<Answer> {
        let requests = commands.into_iter().map(|command| Request { command, reply: () }).collect();
        let step = self.committer.step(self.now, requests).unwrap();
        step.answers.into_iter().map(|(_, answer)| answer.unwrap()).collect()
    }

    fn claim(&mut self) -> Vec<Grant> {
        let answers = self.ask(vec![Command::Claim(claim_of("w", &["work"], RUNS as u32))]);
        self.committer.drop_claims(|()| true);
        let grants = |answer| match answer {
            Answer::Granted { grants, .. } => grants,
            other => panic!("{other:?}"),
        };
        answers.into_iter().flat_map(grants).collect()
    }

    fn finish(&mut self, grants: &[Grant]) {
        self.ask(grants.iter().map(|grant| finish_of(grant.lease, Ok(()))).collect());
    }
}

/// The files of a ledger after three commits, each over all runs, with the log not yet moved into the file.
fn three_commits(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    let mut life = Life::over(dir, 1);
    let plan = flow(ONE);
    life.ask((0..RUNS).map(|_| Command::Start(start_of(&plan))).collect());
    let grants = life.claim();
    assert_eq!(grants.len(), RUNS);
    life.finish(&grants);
    let file = |name: &str| std::fs::read(dir.join(name)).unwrap();
    (file("ledger.db"), file("ledger.db-wal"))
}

/// Every run that is there, with the seq it ends at.
fn heads(dir: &Path) -> Vec<(RunId, u64)> {
    let mut ledger = sqlite::open(dir).unwrap().ledger;
    let streams = ledger.find("", 100).unwrap();
    streams.into_iter().map(|s| (s.run, ledger.head(&s).unwrap().seq)).collect()
}

/// What is left of the log is what was written before, then nothing, or what lay there before.
fn check(ledger: &[u8], log: &[u8]) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ledger.db"), ledger).unwrap();
    std::fs::write(dir.path().join("ledger.db-wal"), log).unwrap();
    let found = heads(dir.path());
    let seqs: Vec<u64> = found.iter().map(|(_, seq)| *seq).collect();
    assert!(found.is_empty() || found.len() == RUNS, "a part of a batch is there: {found:?}");
    assert!(seqs.iter().all(|seq| *seq == seqs[0]), "a part of a batch is there: {found:?}");
    let mut life = Life::over(dir.path(), 2);
    // The workers are lost; what they had is over after a while, and it was the only attempt.
    life.ask(Vec::new());
    life.now = life.now.plus(Millis(60_000));
    life.ask(Vec::new());
    let grants = life.claim();
    life.finish(&grants);
    drop(life);
    let mut reader = Reader::open(dir.path(), home()).unwrap();
    for (run, seq) in &found {
        let expected = if *seq == 3 { RunState::Error } else { RunState::Complete };
        assert_eq!(reader.run(*run).unwrap().state, expected, "{run} was at seq {seq}");
    }
    seqs.first().copied().unwrap_or(0)
}

#[test]
fn a_log_that_is_cut_at_any_sector_shows_whole_commits_and_every_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (ledger, log) = three_commits(dir.path());
    let mut seen = std::collections::BTreeSet::new();
    for cut in (0..=log.len()).step_by(SECTOR) {
        seen.insert(check(&ledger, &log[..cut]));
        let mut torn = log[..cut].to_vec();
        torn.resize(log.len(), 0);
        seen.insert(check(&ledger, &torn));
    }
    seen.insert(check(&ledger, &log));
    let all: Vec<u64> = seen.into_iter().collect();
    assert_eq!(all, [0, 2, 3, 4], "nothing, started, leased, finished: each was seen, and nothing between");
}
