//! Rows of runs that the ledger does not have: an engine died while it was taking them away.

use super::examine::Examiner;
use super::{Finding, REBUILD};
use edgewise_core::{Kind, Result};
use edgewise_store::RunFilter;

const PAGE: usize = 1_000;

impl Examiner<'_> {
    /// Looks at every run there are rows of. One that is being taken away right now has none at the second look.
    pub(super) fn left_over(&mut self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let Some(rows) = self.rows.as_deref_mut() else { return Ok(findings) };
        let mut filter = RunFilter { limit: PAGE, ..RunFilter::default() };
        loop {
            let page = match rows.runs(&filter) {
                Ok(page) => page,
                // Told already, run by run.
                Err(error) if error.kind == Kind::Corrupt => return Ok(findings),
                Err(error) => return Err(error),
            };
            let Some((_, last)) = page.last() else { return Ok(findings) };
            filter.after = Some((last.triggered_at, last.id));
            for (stream, row) in page {
                if self.ledger.head(&stream)?.seq > 0 || rows.load(&stream)?.is_none() {
                    continue;
                }
                // A stream that has lost its records is damage, and told as such.
                if self.ledger.find(&row.id.to_string(), usize::MAX)?.contains(&stream) {
                    continue;
                }
                let what = "its ledger was taken away, its rows are still there".to_owned();
                findings.push(Finding { run: Some(row.id), code: "rows_left_over", what, next: REBUILD });
            }
        }
    }
}
