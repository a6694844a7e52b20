//! The rules of runs, tested through events alone.

mod dice;
mod driver;
mod load;
mod reopened;
mod smoke;
mod storm;
mod why;
