-- Writes what a composite or a run began with: once, while their own rows are written again and again.
INSERT OR REPLACE INTO given_rows (id, body) VALUES (?1, ?2)
