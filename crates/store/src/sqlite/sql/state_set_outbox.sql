-- Writes a task that waits for a worker.
INSERT OR REPLACE INTO outbox_rows (id, generation, attempt, action, ready_at) VALUES (?1, ?2, ?3, ?4, ?5)
