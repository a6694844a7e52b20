//! Open files, of which each connection is one. Systems bound them lower at first than they would let us have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many open files as this process may have.
pub fn raise() {
    let limit = getrlimit(Resource::Nofile);
    // Whoever is not let have more goes on with less.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
