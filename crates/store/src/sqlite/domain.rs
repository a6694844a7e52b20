//! Queues of domain events in `ledger.db`.

use super::LEDGER;
use super::error::{Explain, damaged};
use super::ledger::SqliteLedger;
use super::transaction::{Then, write};
use crate::domain::{Consumer, Document, Domain, Fresh, Namespace, Queued, Space, Span};
use crate::ledger::Position;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

/// The tables, which a ledger of an earlier day may not have.
const MAKE: [&str; 5] = [
    include_str!("sql/domain_make_queue.sql"),
    include_str!("sql/domain_make_queue_by_id.sql"),
    include_str!("sql/domain_make_queue_by_namespace.sql"),
    include_str!("sql/domain_make_consumers.sql"),
    include_str!("sql/domain_make_kept.sql"),
];

/// The publisher's own place among the consumers: of the ledger itself.
const PUBLISHER: (&str, &str) = ("", "publisher");

/// Whether there are tables; one that is only looked at may have none.
fn is_there(conn: &Connection) -> Result<bool> {
    let there: i64 = conn.query_row(include_str!("sql/domain_there.sql"), (), |row| row.get(0)).of(LEDGER)?;
    Ok(there > 0)
}

/// Makes the tables where they are missing; a ledger that has them is not written to.
pub(super) fn make(conn: &Connection) -> Result<()> {
    if is_there(conn)? {
        return Ok(());
    }
    write(conn, LEDGER, |conn| MAKE.iter().try_for_each(|sql| conn.execute_batch(sql)).of(LEDGER).map(Then::Commit))
}

fn execute(conn: &Connection, sql: &'static str, params: impl Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).of(LEDGER)
}

/// All rows of a statement; none where there are no tables.
fn rows<T>(
    conn: &Connection,
    sql: &'static str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    if !is_there(conn)? {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached(sql).of(LEDGER)?;
    let found = statement.query_map(params, read).and_then(Iterator::collect);
    found.of(LEDGER)
}

fn named(text: &str) -> Result<Name> {
    Name::parse(text).map_err(|error| damaged(LEDGER, error))
}

fn walls(space: &Space) -> (&str, &str) {
    (space.tenant.as_str(), space.workspace.as_str())
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn place_of(conn: &Connection, space: &Space, (namespace, name): (&str, &str)) -> Result<Option<u64>> {
    let mut statement = conn.prepare_cached(include_str!("sql/domain_consumer.sql")).of(LEDGER)?;
    let (tenant, workspace) = walls(space);
    let found = statement.query_row((tenant, workspace, namespace, name), |row| row.get::<_, i64>(0)).optional();
    Ok(found.of(LEDGER)?.map(|place| place as u64))
}

fn add(conn: &Connection, space: &Space, event: &Fresh) -> Result<usize> {
    let (tenant, workspace) = walls(space);
    let Fresh { namespace, id, name, at, body } = event;
    let row = params![tenant, workspace, namespace.as_str(), id, name.as_str(), at.0 as i64, body];
    execute(conn, include_str!("sql/domain_add.sql"), row)
}

fn move_on(conn: &Connection, space: &Space, (namespace, name): (&str, &str), place: u64, at: Time) -> Result<()> {
    let (tenant, workspace) = walls(space);
    let row = (tenant, workspace, namespace, name, place as i64, at.0 as i64);
    execute(conn, include_str!("sql/domain_set_consumer.sql"), row).map(drop)
}

impl SqliteLedger {
    /// A write of the queues: what a failed one leaves behind is like after a failed append.
    fn write_domain<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.usable()?;
        let done = write(&self.conn, LEDGER, |conn| work(conn).map(Then::Commit));
        done.map_err(|error: Error| self.failed(error))
    }
}

impl Domain for SqliteLedger {
    fn published(&mut self, space: &Space) -> Result<Option<Position>> {
        if !is_there(&self.conn)? {
            return Ok(None);
        }
        Ok(place_of(&self.conn, space, PUBLISHER)?.map(Position))
    }

    fn publish(&mut self, space: &Space, events: &[Fresh], span: Span) -> Result<Option<usize>> {
        self.write_domain(|conn| {
            if place_of(conn, space, PUBLISHER)?.map(Position) != span.after {
                return Ok(None);
            }
            let mut fresh = 0;
            for event in events {
                fresh += add(conn, space, event)?;
            }
            move_on(conn, space, PUBLISHER, span.upto.0, Time::NEVER)?;
            Ok(Some(fresh))
        })
    }

    fn queued(&mut self, space: &Space, namespace: &Name, after: u64, limit: usize) -> Result<Vec<Queued>> {
        let (tenant, workspace) = walls(space);
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let of = (tenant, workspace, namespace.as_str(), after, count(limit));
        let found = rows(&self.conn, include_str!("sql/domain_read.sql"), of, |row| {
            let (place, at): (i64, i64) = (row.get(0)?, row.get(3)?);
            Ok((place as u64, row.get::<_, String>(1)?, row.get::<_, String>(2)?, Time(at as u64), row.get(4)?))
        })?;
        let queued = found.into_iter().map(|(place, id, name, at, body)| {
            let event = Fresh { namespace: namespace.clone(), id, name: named(&name)?, at, body };
            Ok(Queued { place, event })
        });
        queued.collect()
    }

    fn namespaces(&mut self, space: &Space) -> Result<Vec<Namespace>> {
        let found = rows(&self.conn, include_str!("sql/domain_namespaces.sql"), walls(space), |row| {
            let number = |column| row.get::<_, i64>(column).map(|n| n as u64);
            Ok((row.get::<_, String>(0)?, number(1)?, number(2)?, number(3)?))
        })?;
        let one = |(name, events, first, last): (String, u64, u64, u64)| {
            Ok(Namespace { name: named(&name)?, events, first, last })
        };
        found.into_iter().map(one).collect()
    }

    fn consumers(&mut self, space: &Space) -> Result<Vec<Consumer>> {
        let found = rows(&self.conn, include_str!("sql/domain_consumers.sql"), walls(space), |row| {
            let number = |column| row.get::<_, i64>(column).map(|n| n as u64);
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, number(2)?, Time(number(3)?)))
        })?;
        let one = |(namespace, name, place, at): (String, String, u64, Time)| {
            Ok(Consumer { namespace: named(&namespace)?, name, place, at })
        };
        found.into_iter().map(one).collect()
    }

    fn acknowledge(&mut self, space: &Space, consumer: &Consumer) -> Result<u64> {
        let who = (consumer.namespace.as_str(), consumer.name.as_str());
        self.write_domain(|conn| {
            move_on(conn, space, who, consumer.place, consumer.at)?;
            Ok(place_of(conn, space, who)?.unwrap_or_default())
        })
    }

    fn forget_consumer(&mut self, space: &Space, namespace: &Name, name: &str) -> Result<()> {
        let (tenant, workspace) = walls(space);
        self.write_domain(|conn| {
            let row = (tenant, workspace, namespace.as_str(), name);
            execute(conn, include_str!("sql/domain_drop_consumer.sql"), row).map(drop)
        })
    }

    fn expire_events(&mut self, space: &Space, before: Time, limit: usize) -> Result<usize> {
        let (tenant, workspace) = walls(space);
        self.write_domain(|conn| {
            let row = (tenant, workspace, before.0 as i64, count(limit));
            execute(conn, include_str!("sql/domain_expire.sql"), row)
        })
    }

    fn keep(&mut self, space: &Space, kind: Document, key: &str, body: Option<&str>) -> Result<()> {
        let (tenant, workspace) = walls(space);
        self.write_domain(|conn| match body {
            Some(body) => {
                let row = (tenant, workspace, kind.word(), key, body);
                execute(conn, include_str!("sql/domain_keep.sql"), row).map(drop)
            }
            None => {
                let row = (tenant, workspace, kind.word(), key);
                execute(conn, include_str!("sql/domain_drop_kept.sql"), row).map(drop)
            }
        })
    }

    fn kept(&mut self, space: &Space, kind: Document, prefix: &str, limit: usize) -> Result<Vec<(String, String)>> {
        let (tenant, workspace) = walls(space);
        let of = (tenant, workspace, kind.word(), prefix, count(limit));
        rows(&self.conn, include_str!("sql/domain_kept.sql"), of, |row| Ok((row.get(0)?, row.get(1)?)))
    }
}
