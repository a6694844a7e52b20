-- Writes a timer.
INSERT OR REPLACE INTO timer_rows (task, kind, generation, attempt, due) VALUES (?1, ?2, ?3, ?4, ?5)
