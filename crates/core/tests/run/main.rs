//! The rules of runs, tested through events alone.

mod acts;
mod attempts;
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
mod rerun;
mod rerun_programs;
mod rules;
mod sketched;
mod smoke;
mod states;
mod storm;
mod timing;
mod variables;
mod what_if;
mod why;
