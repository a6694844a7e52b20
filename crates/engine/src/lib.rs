//! engine

pub mod runner;
