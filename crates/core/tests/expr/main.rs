//! The expression language, from outside: what it computes, what it refuses, how it is stored.

mod bounds;
mod conformance;
mod form;
mod functions;
mod fuzz;
mod ground;
mod reference;
mod semantics;
