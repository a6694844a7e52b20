//! The storm.

pub mod dice;
pub mod driver;
pub mod flows;
pub mod plans;
pub mod violation;
pub mod witness;
