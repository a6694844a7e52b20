//! `edgewise claim` and `edgewise release`.

use super::act;
use crate::args;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_core::work::Op;

/// Has an item, or has it for longer.
pub(crate) fn claim(args: &args::Claim, context: &mut Context<'_>) -> Result<Exit> {
    let id = act::typed(&args.id, context)?;
    let op = match args.token {
        Some(token) => Op::Extend { id, token, lease: args.lease },
        None => Op::Claim { id, lease: args.lease },
    };
    act::perform(&[op], context)?;
    Ok(Exit::Ok)
}

/// Gives it back.
pub(crate) fn release(args: &args::Release, context: &mut Context<'_>) -> Result<Exit> {
    let id = act::typed(&args.id, context)?;
    act::perform(&[Op::Release { id, token: args.token }], context)?;
    Ok(Exit::Ok)
}
