//! The engine under faults: a driver, a witness that checks every act, storms, crashes at every write
//! boundary, the rules one by one, and figures that are counted and not timed.

mod boundary;
mod dice;
mod driver;
mod figures;
mod flows;
mod rules;
mod storm;
mod witness;
