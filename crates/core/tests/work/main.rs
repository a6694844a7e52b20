//! The rules of the work graph, tested through events alone.

mod dice;
mod random;
mod world;
