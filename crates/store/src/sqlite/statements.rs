//! The statements of one transaction, each prepared when it is first needed and then used for every row.
//!
//! A statement borrows its connection and cannot move to another thread, so none is kept for longer: a
//! transaction pays a few microseconds for each statement it uses, however many rows it writes.

use super::error::Explain;
use edgewise_core::Result;
use rusqlite::{Connection, Statement};

/// Prepared statements by their text.
pub(super) struct Statements<'c> {
    pub conn: &'c Connection,
    file: &'static str,
    ready: Vec<(&'static str, Statement<'c>)>,
}

impl<'c> Statements<'c> {
    /// None prepared yet; `file` is what their errors name.
    pub fn new(conn: &'c Connection, file: &'static str) -> Self {
        Self { conn, file, ready: Vec::new() }
    }

    /// The statement of a text, recognised by its address: comparing it would cost more than it saves.
    pub fn get(&mut self, sql: &'static str) -> Result<&mut Statement<'c>> {
        let place = match self.ready.iter().position(|(text, _)| std::ptr::eq(*text, sql)) {
            Some(place) => place,
            None => {
                self.ready.push((sql, self.conn.prepare(sql).of(self.file)?));
                self.ready.len() - 1
            }
        };
        Ok(&mut self.ready[place].1)
    }
}
