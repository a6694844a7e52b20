-- A task no longer waits for a worker.
DELETE FROM outbox_rows WHERE id = ?1
