//! The API over real connections: what it does, what it refuses, and to whom.

mod client;
mod hostile;
mod limited;
mod matrix;
mod runs;
mod stage;
mod tls;
mod traces;
mod trail;
mod walls;
mod workers;
