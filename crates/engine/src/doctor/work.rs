//! A workspace's work graph, examined: its records, its rows against what they come to, and everything derived
//! against a computation from its base facts alone.

use super::examine::Examiner;
use super::{Finding, REBUILD, REPORT, RESTORE, Seen, damage};
use crate::desk::CachedWork;
use crate::load::{fold_work, load_work};
use edgewise_core::Result;
use edgewise_core::work::{Changed, Work, WorkRows, scratch};
use edgewise_store::{Flush, Ledger, Projections, Stream};

/// Graphs of so many items are also held against the definitions, word for word, which takes its time.
const SMALL: usize = 2_000;

impl Examiner<'_> {
    pub(super) fn work_stream(&mut self, stream: &Stream, seen: &mut Seen) -> Result<Option<Finding>> {
        let rows = match self.rows.as_deref_mut().map(|rows| rows.work(stream)) {
            None => None,
            Some(Ok(rows)) => rows,
            Some(Err(error)) => return damage(stream.run, error, REBUILD).map(Some),
        };
        let applied = rows.as_ref().map_or(0, |rows| rows.applied_seq);
        let (mut whole, mut at_rows, mut seq_at) = (Work::default(), None, 0);
        self.each(stream, seen, |stored, watermark| {
            if stored.position <= watermark {
                seq_at = stored.record.last();
            }
            fold_work(&mut whole, stored, &mut Changed::default())?;
            if whole.seq == applied {
                at_rows = Some(whole.rows());
            }
            Ok(())
        })?;
        let finding = |code, what: String, next| Some(Finding { run: Some(stream.run), code, what, next });
        let head = self.ledger.head(stream)?;
        if head.last != whole.last {
            let what = format!("its head names event {}, its last event is {}", head.last, whole.last);
            return Ok(finding("head_differs", what, RESTORE));
        }
        if let Some(what) = maintained_wrongly(&whole)? {
            return Ok(finding("derived_differs", what, REPORT));
        }
        if self.rows.is_none() || self.frozen.contains(&stream.run) {
            return Ok(None);
        }
        if applied < seq_at {
            let what = format!("its rows are at seq {applied}, the watermark says that they are at {seq_at}");
            return Ok(finding("rows_missing", what, REBUILD));
        }
        let different = rows.as_ref().and_then(|rows| difference(at_rows.as_ref()?, rows));
        let unknown = rows.is_some() && at_rows.is_none();
        let what = different.or(unknown.then(|| format!("they are at seq {applied}, where no commit ended")));
        Ok(what.and_then(|what| finding("load_differs", format!("its rows differ from its events: {what}"), REBUILD)))
    }
}

/// What is derived and is not what its base facts come to.
fn maintained_wrongly(work: &Work) -> Result<Option<String>> {
    let maintained = work.rows();
    let anew = Work::from_rows(&maintained)?.rows();
    let by_definition = if work.len() <= SMALL { scratch::disagreements(work) } else { Vec::new() };
    Ok(difference(&anew, &maintained).or(by_definition.into_iter().next()))
}

/// The first thing that is not as it should be.
fn difference(right: &WorkRows, found: &WorkRows) -> Option<String> {
    let first = |n: Option<usize>, id: &dyn Fn(usize) -> String| n.map(id);
    let items = place(&right.items, &found.items);
    let dependencies = place(&right.dependencies, &found.dependencies);
    let gates = place(&right.gates, &found.gates);
    let item = |n: usize| right.items.get(n).or(found.items.get(n)).map_or(String::new(), |row| row.id.to_string());
    let dependency = |n: usize| {
        let row = right.dependencies.get(n).or(found.dependencies.get(n));
        row.map_or(String::new(), |row| format!("{} {} {}", row.source, row.kind.name(), row.target))
    };
    let gate = |n: usize| right.gates.get(n).or(found.gates.get(n)).map_or(String::new(), |row| row.id.to_string());
    let runs = (right.runs != found.runs).then(|| "the ends of runs".to_owned());
    let head = (right.version != found.version).then(|| "their version".to_owned());
    first(items, &item).or(first(dependencies, &dependency)).or(first(gates, &gate)).or(runs).or(head)
}

/// Where two lists first differ.
fn place<T: PartialEq>(right: &[T], found: &[T]) -> Option<usize> {
    let at = right.iter().zip(found).position(|(right, found)| right != found);
    at.or((right.len() != found.len()).then_some(right.len().min(found.len())))
}

/// Writes the rows of a work stream into projections that have none.
pub(super) fn rebuild(ledger: &mut dyn Ledger, rows: &mut dyn Projections, stream: &Stream) -> Result<Option<Finding>> {
    match load_work(ledger, rows, stream) {
        Ok(loaded) => {
            let work = CachedWork::new(loaded.state, loaded.written, loaded.changed).change(stream);
            rows.flush(&Flush { work, ..Flush::default() })?;
            Ok(None)
        }
        Err(error) => {
            let Finding { what, .. } = damage(stream.run, error, RESTORE)?;
            let what = format!("it has no rows now: {what}");
            Ok(Some(Finding { run: Some(stream.run), code: "not_rebuilt", what, next: RESTORE }))
        }
    }
}
