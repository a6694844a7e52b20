//! The work graph on the command line: items, dependencies, gates. One file for each command.

mod act;
mod add;
mod batch;
mod blocked;
mod board;
mod change;
mod claim;
mod dep;
mod export;
mod gate;
mod go_on;
mod history;
pub(crate) mod import;
mod last;
mod list;
mod look;
mod mcp;
mod prime;
mod ready;
mod reason;
mod said;
mod show;
mod stats;
mod template;
mod tree;
mod unknown;
mod why;

pub(super) use add::perform as add;
pub(super) use batch::perform as batch;
pub(super) use blocked::perform as blocked;
pub(super) use board::{Asks, Board, Found, found, refuse_past};
pub(super) use change::{close, delete, reopen, update};
pub(super) use claim::{claim, release};
pub(super) use dep::perform as dep;
pub(super) use export::perform as export;
pub(super) use gate::{
    act as gate_act, create as gate_create, list as gate_list, satisfy as gate_satisfy, show as gate_show,
};
pub(super) use history::perform as history;
pub(super) use import::perform as import;
pub(super) use list::perform as list;
pub(super) use mcp::perform as mcp;
pub(super) use prime::perform as prime;
pub(super) use ready::perform as ready;
pub(super) use reason::lines as reason_lines;
pub(super) use show::perform as show;
pub(super) use stats::perform as stats;
pub(super) use why::perform as why;

use edgewise_engine::facts::{spelled, work as facts};
