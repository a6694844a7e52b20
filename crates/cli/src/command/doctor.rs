//! doctor
use super::Context;
use crate::{args::Doctor, exit::Exit, problem::Result};
pub(super) fn perform(_: &Doctor, _: &mut Context<'_>) -> Result<Exit> {
    Ok(Exit::Ok)
}
