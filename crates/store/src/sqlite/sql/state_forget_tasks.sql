-- Takes a run's tasks away: one stretch of the table.
DELETE FROM task_rows WHERE id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295
