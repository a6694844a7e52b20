//! A store in memory with engines over it, and what is asked of them.

use edgewise_core::control::Control;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Command, Register};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::doctor::{Finding, Told, verify};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::Reader;
use edgewise_store::Projections;
use edgewise_store::faulty::{Faults, FaultyLedger, FaultyProjections};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use std::collections::BTreeMap;
use std::sync::Arc;

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
        self.try_engine(seed).unwrap()
    }

    pub fn try_engine(&self, seed: u8) -> edgewise_core::Result<Engine> {
        let ledger = Box::new(FaultyLedger::new(self.ledger.clone(), self.faults.clone()));
        let rows = Box::new(FaultyProjections::new(self.rows.clone(), self.faults.clone()));
        let mut engine = Committer::new(ledger, rows, Home::local(), "e".into(), Entropy::from_seed([seed; 32]));
        engine.recover(Time(1_000))?;
        Ok(engine)
    }

    pub fn reader(&self) -> Reader {
        Reader::over(Box::new(self.ledger.clone()), Box::new(self.rows.clone()), Home::local())
    }

    pub fn control(&self) -> Control {
        Reader::over(Box::new(self.ledger.clone()), Box::new(self.rows.clone()), Home::local()).control().unwrap()
    }

    pub fn flush(&mut self, engine: &mut Engine) {
        let flush = engine.flush_all().unwrap();
        let result = self.rows.flush(&flush);
        engine.flushed(Time(2_000), &result);
        result.unwrap();
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

pub fn ask(engine: &mut Engine, command: Command) -> edgewise_core::Result<Answer> {
    let step = engine.step(Time(1_500), vec![Request { command, reply: 1 }]).unwrap();
    step.answers.into_iter().next().unwrap().1
}

pub fn register(flow: &str) -> Command {
    let plan = edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan;
    Command::Register(Register {
        plan: Arc::new(plan),
        children: Vec::new(),
        schedules: BTreeMap::new(),
        hook: None,
        by: name("ada"),
    })
}
