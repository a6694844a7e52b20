//! The ten rules of the model, each with its sentences.

mod edges;
mod ends;
mod once;
mod outcome;

use crate::driver::{Driver, graph, name, refused};
use edgewise_core::event::Request;
use edgewise_core::plan::{Accepts, Join, OnFailure, Resolution};

const OK: Accepts = Accepts::SUCCESS;
const FAILED: Accepts = Accepts::of(Resolution::Failed);
const SKIPPED: Accepts = Accepts::of(Resolution::Skipped);
const CANCELLED: Accepts = Accepts::of(Resolution::Cancelled);
const ALL: Join = Join::All;

fn continuing(nodes: &[(&str, Join)], edges: &[(u32, u32, Accepts)]) -> Driver {
    Driver::planned(graph(nodes, edges, OnFailure::Continue))
}

fn request() -> Request {
    Request { by: name("op"), why: None }
}
