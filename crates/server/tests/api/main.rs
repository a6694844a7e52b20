//! The API over real connections: what it does, what it refuses, and to whom.

mod caller;
mod client;
mod domain;
mod forms;
mod gates;
mod hostile;
mod imports;
mod items;
mod lent;
mod limited;
mod matrix;
mod operating;
mod pages;
mod push;
mod reference;
mod runs;
mod stage;
mod starts;
mod tls;
mod traces;
mod trail;
mod walls;
mod workers;
