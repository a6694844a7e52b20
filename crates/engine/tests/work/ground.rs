//! A store in memory with engines over it, and what is asked of the work graph.

use edgewise_core::Result;
use edgewise_core::event::{Envelope, Record, encode_events};
use edgewise_core::id::{EventId, RunId};
use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{
    Act, Add, CloseOp, Depend, DependencyKind, Done, Filter, ItemId, Op, ReopenOp, Work, WorkEvent, WorkRows,
};
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::doctor::{Finding, Told, verify};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::Reader;
use edgewise_engine::work::Ops;
use edgewise_store::faulty::{Faults, FaultyLedger, FaultyProjections};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Append, Guard, Ledger, Projections};

pub const NOW: Time = Time(1_500);
pub const LEASE: Millis = Millis(60_000);

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A store in memory, and engines over it.
#[derive(Default)]
pub struct World {
    pub ledger: MemoryLedger,
    pub rows: MemoryProjections,
    pub faults: Faults,
}

pub type Engine = Committer<u64>;

impl World {
    pub fn engine(&self, seed: u8) -> Engine {
        self.engine_at(seed, Time(1_000)).unwrap()
    }

    pub fn engine_at(&self, seed: u8, now: Time) -> Result<Engine> {
        let ledger = Box::new(FaultyLedger::new(self.ledger.clone(), self.faults.clone()));
        let rows = Box::new(FaultyProjections::new(self.rows.clone(), self.faults.clone()));
        let mut engine = Committer::new(ledger, rows, Home::local(), "e".into(), Entropy::from_seed([seed; 32]));
        engine.recover(now)?;
        Ok(engine)
    }

    pub fn reader(&self) -> Reader {
        let rows = FaultyProjections::new(self.rows.clone(), self.faults.clone());
        Reader::over(Box::new(self.ledger.clone()), Box::new(rows), Home::local())
    }

    /// The work graph as whoever reads rows and ledger sees it.
    pub fn work(&self) -> Work {
        self.reader().work().unwrap()
    }

    /// The work graph as its events alone come to.
    pub fn folded(&self) -> WorkRows {
        Reader::over(Box::new(self.ledger.clone()), Box::<MemoryProjections>::default(), Home::local())
            .work()
            .unwrap()
            .rows()
    }

    pub fn flush(&mut self, engine: &mut Engine) {
        let flush = engine.flush_all().unwrap();
        let result = self.rows.flush(&flush);
        engine.flushed(Time(2_000), &result);
        result.unwrap();
    }

    /// Writes an event as an engine does that is killed right after.
    pub fn write_work(&mut self, event: WorkEvent) {
        let stream = Home::local().stream(RunId::WORK);
        let head = self.ledger.head(&stream).unwrap();
        let envelope = Envelope { id: EventId::mint(NOW, 7, head.last), at: NOW, source: "e".into() };
        let bytes = encode_events(&envelope, &[event]);
        let record = Record::new(&stream.label(), head.seq + 1, 1, bytes);
        let mut batch = Append::default();
        batch.guards.push(Guard { stream: stream.clone(), seq: head.seq });
        batch.records.push((stream, record, envelope.id));
        self.ledger.append(&batch).unwrap();
    }

    pub fn findings(&mut self) -> Vec<Finding> {
        let mut found = Vec::new();
        let tell = &mut |told: Told| {
            if let Told::Found(finding) = told {
                found.push(finding);
            }
            Ok(())
        };
        verify(&mut self.ledger, Some(&mut self.rows), tell).unwrap();
        found
    }
}

pub fn ask(engine: &mut Engine, command: Command) -> Result<Answer> {
    let step = engine.step(NOW, vec![Request { command, reply: 1 }]).unwrap();
    step.answers.into_iter().next().unwrap().1
}

/// Several operations of somebody in one commit.
pub fn all(engine: &mut Engine, by: &str, ops: Vec<Op>) -> Result<Vec<Done>> {
    match ask(engine, Command::Work(Ops { ops, by: name(by), key: None }))? {
        Answer::Worked(done) => Ok(done),
        other => panic!("{other:?}"),
    }
}

/// One operation.
pub fn one(engine: &mut Engine, op: Op) -> Result<Done> {
    all(engine, "ada", vec![op]).map(|mut done| done.remove(0))
}

pub fn add(id: &str) -> Op {
    let id = Some(ItemId::parse(id).unwrap());
    Op::Add(Box::new(Add { title: "something".into(), id, ..Add::default() }))
}

pub fn needs(id: &str, on: &str) -> Op {
    depend(id, on, DependencyKind::Blocks)
}

pub fn depend(id: &str, on: &str, kind: DependencyKind) -> Op {
    depend_if(id, on, Some(kind))
}

/// Without a kind: it is simply waited for.
pub fn depend_if(id: &str, on: &str, kind: Option<DependencyKind>) -> Op {
    let (when, gate, metadata) = Default::default();
    Op::Depend(Box::new(Depend { id: id.into(), on: Some(on.into()), kind, when, gate, metadata }))
}

pub fn close(id: &str) -> Op {
    Op::Close(CloseOp { id: id.into(), ..CloseOp::default() })
}

pub fn act(id: &str) -> Act {
    Act { id: id.into(), why: None }
}

pub fn reopen(id: &str) -> ReopenOp {
    ReopenOp { id: id.into(), ..ReopenOp::default() }
}

pub fn claim(id: &str) -> Op {
    Op::Claim { id: id.into(), lease: LEASE }
}

/// The ids of what is ready, in order.
pub fn ready(work: &Work, now: Time) -> Vec<String> {
    let found = work.ready(now, &Filter::default(), None).unwrap();
    found.into_iter().map(|item| item.id.to_string()).collect()
}
