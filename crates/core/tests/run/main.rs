//! The rules of runs, tested through events alone.

mod codec;
mod dice;
mod driver;
mod exhaustive;
mod load;
mod reopened;
mod smoke;
mod states;
mod storm;
