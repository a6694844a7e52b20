//! What programs that talk to a server depend on: the wire types of its API.

pub mod wire;
