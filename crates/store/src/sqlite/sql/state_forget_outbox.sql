-- Takes a run's outbox away: one stretch of the table.
DELETE FROM outbox_rows WHERE id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295
