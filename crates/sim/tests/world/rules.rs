//! The rules one by one: each test is a defect that comparable systems were seen to have.

mod acts;
mod descend;
mod frozen;
mod leases;
mod limits;
mod links;
mod rerun;
mod runs;
mod several;
mod slots;
mod store;
mod time;
