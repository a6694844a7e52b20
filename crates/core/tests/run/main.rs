//! The rules of runs, tested through events alone.

mod driver;
mod smoke;
