//! The API over real connections: what it does, what it refuses, and to whom.

mod domain;
mod hostile;
mod matrix;
mod runs;
mod stage;
mod workers;
