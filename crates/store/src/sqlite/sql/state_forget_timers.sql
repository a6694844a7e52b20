-- Takes a run's timers away: one stretch of the table.
DELETE FROM timer_rows WHERE task BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295
