//! `edgewise stats`: how many items stand where.

use super::board::Board;
use super::look::{kind_word, status_word};
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::Ink;
use crate::text;

pub(crate) fn perform(context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let stats = board.work.stats(board.now);
    let style = context.printer.out_style;
    let kinds: Vec<String> = stats.kinds.iter().map(|(kind, count)| format!("{count} {}", kind_word(*kind))).collect();
    let statuses: Vec<String> =
        stats.status.iter().map(|(status, count)| format!("{count} {}", status_word(*status))).collect();
    let line = |name: &str, value: String| format!("{} {value}", style.paint(Ink::Dim, &text::pad(name, 13)));
    let with = |count: usize, more: Vec<String>| {
        if more.is_empty() { count.to_string() } else { format!("{count} ({})", more.join(", ")) }
    };
    let lines = [
        line("items", with(stats.items, kinds)),
        line("status", statuses.join(", ")),
        line("ready", stats.ready.to_string()),
        line("blocked", stats.blocked.to_string()),
        line("claimed", stats.claimed.to_string()),
        line("scheduled", stats.scheduled.to_string()),
        line("dependencies", stats.dependencies.to_string()),
        line("gates", format!("{} waiting", stats.closed_gates)),
        line("awaited runs", stats.awaited_runs.to_string()),
    ];
    context.printer.one(stats.items.to_string(), &lines, &stats)?;
    Ok(Exit::Ok)
}
