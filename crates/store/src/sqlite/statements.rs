//! The statements of one transaction, each looked up when it is first needed and then used for every row.
//!
//! A statement borrows its connection, so none is held for longer; the connection's own cache keeps it
//! prepared from one transaction to the next, because parsing would be a tenth of a small commit.

use super::error::Explain;
use edgewise_core::Result;
use rusqlite::{CachedStatement, Connection};

/// Prepared statements by their text.
pub(super) struct Statements<'c> {
    pub conn: &'c Connection,
    file: &'static str,
    ready: Vec<(&'static str, CachedStatement<'c>)>,
}

impl<'c> Statements<'c> {
    /// None prepared yet; `file` is what their errors name.
    pub fn new(conn: &'c Connection, file: &'static str) -> Self {
        Self { conn, file, ready: Vec::new() }
    }

    /// The statement of a text, recognised by its address: comparing it would cost more than it saves.
    pub fn get(&mut self, sql: &'static str) -> Result<&mut CachedStatement<'c>> {
        let place = match self.ready.iter().position(|(text, _)| std::ptr::eq(*text, sql)) {
            Some(place) => place,
            None => {
                self.ready.push((sql, self.conn.prepare_cached(sql).of(self.file)?));
                self.ready.len() - 1
            }
        };
        Ok(&mut self.ready[place].1)
    }
}
