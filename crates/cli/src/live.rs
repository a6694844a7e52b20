//! The live view: one run, drawn until it ends.
//!
//! A [`Picture`] says what is to be seen, [`draw`] turns it into lines, and a [`Screen`] puts them where the last ones
//! were. Drawing is a pure function of the picture, the room and the instant, so every frame can be tested as text.
//! Where nobody watches, [`Lines`] prints one line for each change instead.

mod bar;
mod frame;
mod lines;
mod pick;
mod picture;
mod screen;
mod span;

pub use frame::draw;
pub use lines::Lines;
pub use picture::{Counts, Picture, SpreadCount, TaskLine};
pub use screen::{Screen, can_draw, size};
pub use span::span;

#[cfg(test)]
mod sample;
