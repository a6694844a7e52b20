//! The door: everything that the engine can do, over HTTP.
//!
//! ```text
//! accept ──► who is it? ──► may they? ──► one handler ──► engine (writes) or reader (looks)
//!   limits     auth           routes        route/*
//! ```
//!
//! Every route stands in one table ([`routes`]) with the permission it needs and the forms it takes and gives. The
//! router, the permission checks and the OpenAPI document are made from that table: a route that is not in it does
//! not exist.

mod accept;
mod app;
mod asker;
pub mod audit;
pub mod auth;
mod body;
mod conditional;
mod door;
mod entrance;
mod guard;
pub mod hook;
mod idempotency;
mod known_flows;
pub mod limits;
pub mod listed;
mod metrics;
pub mod openapi;
mod otlp;
mod pace;
mod page;
mod params;
mod problem;
pub mod push;
mod readers;
mod route;
pub mod routes;
mod tail;
mod tls;
pub mod workspaces;

pub use accept::{Serving, serve, serve_as};
pub use app::{App, Parts};
pub use door::{Listen, Patience};
pub use entrance::Served;
pub use push::Pushing;
pub use tls::Tls;
pub use workspaces::{Outside, Workspaces};
