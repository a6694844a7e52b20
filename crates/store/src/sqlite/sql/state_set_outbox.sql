-- Writes a task that waits for a worker.
INSERT OR REPLACE INTO outbox_rows
    (id, generation, attempt, action, ready_at, queue, priority, limit_key, limit_max, limit_rate)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
