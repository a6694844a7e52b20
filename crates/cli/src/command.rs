//! The commands, one file each: read the arguments, do it, hand the result to the printer.

mod act;
mod address;
mod audit;
mod backup;
mod bench;
mod cancel;
mod check;
mod completion;
mod config_show;
mod demo;
mod doctor;
mod domain;
mod engine;
mod events;
mod export;
mod flow_hook;
mod fmt;
mod freeze;
mod gate_act;
mod gate_list;
mod gate_show;
mod gate_url;
mod give_up;
mod graph;
mod history;
mod init;
mod inputs;
mod lock;
mod logs;
mod man;
mod pause;
mod plan;
mod queues;
mod register;
mod rerun;
mod resolve;
mod restore;
mod resume;
mod retain;
mod run;
mod runs;
mod schedule;
mod schema;
mod serve;
mod show;
mod task_act;
mod test;
mod timing;
mod token;
mod unfreeze;
mod watch;
mod webhook;
mod what_if;
mod why;
mod work;
mod worker;

use crate::args::{Command, ConfigCommand, GateCommand, ScheduleCommand, Serve, TaskCommand};
pub(crate) use retain::STATES as KEPT_FOR_A_WHILE;

use crate::config::Config;
use crate::exit::Exit;
use crate::output::Printer;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use std::path::Path;

/// What every command gets.
pub struct Context<'a> {
    /// The settings that hold.
    pub config: &'a Config,
    /// The working directory.
    pub cwd: &'a Path,
    /// Where everything is printed.
    pub printer: &'a mut Printer,
}

/// Whether a command makes a folder, or is its engine: a server that the settings name is for the others.
pub fn is_of_folder(command: &Command) -> bool {
    use Command::{Bench, Demo, Dev, Engine, Init, Serve};
    matches!(command, Init(_) | Demo(_) | Bench(_) | Engine(_) | Serve(_) | Dev(_))
}

/// Refuses what is only done in the folder itself where the settings name a server.
fn only_here(command: &Command, context: &Context<'_>) -> Result<()> {
    let name = match command {
        Command::Backup(_) => "backup",
        Command::Restore(_) => "restore",
        Command::Doctor(_) => "doctor",
        _ => return Ok(()),
    };
    let Some(addr) = &context.config.addr.value else { return Ok(()) };
    let what =
        format!("`edgewise {name}` works in a data folder, and {} names the server {addr}", context.config.addr.origin);
    let next = "run it on the machine of the server, or name a folder with --dir";
    Err(Problem::new(Kind::Invalid, "only_here", what).next(next))
}

/// Does what was asked.
pub fn perform(command: &Command, context: &mut Context<'_>) -> Result<Exit> {
    only_here(command, context)?;
    match command {
        Command::Init(args) => init::perform(args, context),
        Command::Demo(args) => demo::perform(args, context),
        Command::Run(args) => run::perform(args, context),
        Command::Watch(args) => watch::perform(args, context),
        Command::Runs(args) => runs::perform(args, context),
        Command::Queues(args) => queues::perform(args, context),
        Command::Show(args) => show::perform(args, context),
        Command::Why(args) => why::perform(args, context),
        Command::Timing(args) => timing::perform(args, context),
        Command::WhatIf(args) => what_if::perform(args, context),
        Command::Graph(args) => graph::perform(args, context),
        Command::Logs(args) => logs::perform(args, context),
        Command::Events(args) => events::perform(args, context),
        Command::History(args) => history::perform(args, context),
        Command::Cancel(args) => cancel::perform(args, context),
        Command::Pause(args) => pause::perform(args, context),
        Command::Resume(args) => resume::perform(args, context),
        Command::Task(task) => match &task.command {
            TaskCommand::Reset(args) => task_act::reset(args, context),
            TaskCommand::Skip(args) => task_act::skip(args, context),
            TaskCommand::Cancel(args) => task_act::cancel(args, context),
            TaskCommand::Resolve(args) => task_act::resolve(args, context),
            TaskCommand::Complete(args) => task_act::complete(args, context),
        },
        Command::Resolve(args) => resolve::perform(args, context),
        Command::GiveUp(args) => give_up::perform(args, context),
        Command::Freeze(args) => freeze::perform(args, context),
        Command::Unfreeze(args) => unfreeze::perform(args, context),
        Command::Rerun(args) => rerun::perform(args, context),
        Command::Gate(gate) => match &gate.command {
            GateCommand::List(args) => gate_list::perform(args, context),
            GateCommand::Show(args) => gate_show::perform(args, context),
            GateCommand::Satisfy(args) => gate_act::satisfy(args, context),
            GateCommand::Create(args) => work::gate_create(args, context),
            GateCommand::Url(args) => gate_url::perform(args, context),
            GateCommand::Approve(args) => gate_act::approve(args, context),
            GateCommand::Withdraw(args) => gate_act::withdraw(args, context),
            GateCommand::Reject(args) => gate_act::reject(args, context),
        },
        Command::Add(args) => work::add(args, context),
        Command::List(args) => work::list(args, context),
        Command::Ready(args) => work::ready(args, context),
        Command::Blocked(args) => work::blocked(args, context),
        Command::Update(args) => work::update(args, context),
        Command::Close(args) => work::close(args, context),
        Command::Reopen(args) => work::reopen(args, context),
        Command::Delete(args) => work::delete(args, context),
        Command::Claim(args) => work::claim(args, context),
        Command::Release(args) => work::release(args, context),
        Command::Dep(args) => work::dep(args, context),
        Command::Stats(_) => work::stats(context),
        Command::Import(args) => work::import(args, context),
        Command::Export(args) => work::export(args, context),
        Command::Batch(args) => work::batch(args, context),
        Command::Prime(args) => work::prime(args, context),
        Command::Mcp(args) => work::mcp(args, context),
        Command::Register(args) => register::register(args, context),
        Command::Flows(args) => register::flows(args, context),
        Command::Schedule(schedule) => match &schedule.command {
            ScheduleCommand::List(args) => schedule::list(args, context),
            ScheduleCommand::Show(args) => schedule::show(args, context),
            ScheduleCommand::Set(args) => schedule::set(args, context),
            ScheduleCommand::Pause(args) => schedule::pause(args, context),
            ScheduleCommand::Resume(args) => schedule::resume(args, context),
            ScheduleCommand::Remove(args) => schedule::remove(args, context),
            ScheduleCommand::Next(args) => schedule::next(args, context),
            ScheduleCommand::Backfill(args) => schedule::backfill(args, context),
        },
        Command::Check(args) => check::perform(args, context),
        Command::Fmt(args) => fmt::perform(args, context),
        Command::Plan(args) => plan::perform(args, context),
        Command::Schema(args) => schema::perform(args, context),
        Command::Test(args) => test::perform(args, context),
        Command::Backup(args) => backup::perform(args, context),
        Command::Restore(args) => restore::perform(args, context),
        Command::Retain(args) => retain::perform(args, context),
        Command::Doctor(args) => doctor::perform(args, context),
        Command::Bench(args) => bench::perform(args, context),
        Command::Config(config) => match &config.command {
            ConfigCommand::Show(args) => config_show::perform(args, context),
        },
        Command::Completion(args) => completion::perform(args, context),
        Command::Man(args) => man::perform(args, context),
        Command::Engine(args) => engine::perform(args, context),
        Command::Serve(args) => serve::perform(args, context),
        Command::Dev(args) => serve::perform(&Serve::dev(args.addr.clone()), context),
        Command::Token(args) => token::perform(args, context),
        Command::Audit(args) => audit::perform(args, context),
        Command::Domain(args) => domain::perform(&args.command, context),
        Command::Webhook(args) => webhook::perform(&args.command, context),
        Command::Worker(args) => worker::perform(&args.command, context),
    }
}
