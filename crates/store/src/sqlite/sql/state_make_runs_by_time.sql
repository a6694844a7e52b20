-- Lists the newest runs without reading all of them. A run's row is rewritten often, its place here never.
CREATE INDEX run_rows_by_time ON run_rows (triggered_at, run)
