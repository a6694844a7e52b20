//! The engine by itself: crashes at every write boundary, the rules one by one, and figures that are counted.

mod boundary;
mod figures;
mod rules;
mod scenario;
mod torn;
mod written;
