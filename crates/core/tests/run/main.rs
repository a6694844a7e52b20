//! The rules of runs, tested through events alone.

mod codec;
mod composites;
mod defects;
mod dice;
mod driver;
mod exhaustive;
mod found;
mod invariants;
mod links;
mod load;
mod pairs;
mod programs;
mod reopened;
mod rules;
mod sketched;
mod smoke;
mod states;
mod storm;
mod variables;
mod why;
