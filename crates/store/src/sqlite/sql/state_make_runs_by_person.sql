-- Runs that one person asked for, sorted as runs are by kind.
CREATE INDEX run_rows_by_person ON run_rows (by, flow, namespace, state, triggered_at)
