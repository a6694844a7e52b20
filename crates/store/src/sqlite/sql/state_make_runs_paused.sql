-- Runs that are paused, however many others there are.
CREATE INDEX run_rows_paused ON run_rows (triggered_at, run) WHERE paused
