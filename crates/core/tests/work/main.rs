//! The rules of the work graph, tested through events alone.

mod cycles;
mod defects;
mod dice;
mod joined;
mod random;
mod refusals;
mod rules;
mod waiters;
mod world;
