-- Writes a lease.
INSERT OR REPLACE INTO lease_rows (id, generation, attempt, worker, deadline, queue, limit_key)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
