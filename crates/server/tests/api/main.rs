//! The API over real connections: what it does, what it refuses, and to whom.

mod gates;
mod hostile;
mod items;
mod matrix;
mod operating;
mod reference;
mod runs;
mod stage;
mod workers;
