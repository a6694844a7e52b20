-- Runs by the key they were started with.
CREATE INDEX run_rows_by_key ON run_rows (key) WHERE key IS NOT NULL
