//! Damaged, strange and hostile input for everything in Edgewise that reads bytes.
//!
//! ```text
//! corpus ──► mutate ──► target ──► a mark, or something found
//!    ▲                     │
//!    └── inputs that got somewhere new, and every input that ever broke something
//! ```
//!
//! What every target promises: no panic, bounded time and memory, what was read is written so that it reads
//! back the same, and what is refused is refused with a code and a message. One target, one file in `targets/`.

pub mod corpus;
pub mod dice;
pub mod hunt;
pub mod mutate;
pub mod targets;
