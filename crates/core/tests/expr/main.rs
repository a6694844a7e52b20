//! The expression language, from outside: what it computes, what it refuses, how it is stored.

mod bounds;
mod form;
mod ground;
mod semantics;
