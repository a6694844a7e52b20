//! The rules of the work graph, tested through events alone.

mod cycles;
mod dice;
mod random;
mod refusals;
mod world;
