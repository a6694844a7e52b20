-- Runs of one kind (flow, namespace, state), the newest last: what a search walks.
CREATE INDEX run_rows_by_kind ON run_rows (flow, namespace, state, triggered_at)
