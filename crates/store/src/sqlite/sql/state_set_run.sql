-- Moves a run's row on; whether it is at the seq it must be at was looked up in the same transaction. Flow, plan, the time
-- it was asked for and its marks never change: naming them here would write their indexes again each time.
UPDATE run_rows
SET state = ?2, paused = ?3, counts = ?4, started_at = ?5, completed_at = ?6, applied_seq = ?7, version = ?8, body = ?9
WHERE no = ?1
