//! The work graph through the real binary, in a folder of its own.

mod agent;
mod carry;
mod gates;
mod guide;
mod items;
mod place;
mod race;
mod refusals;
mod shown;
mod unknown;
