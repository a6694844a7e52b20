-- Moves a run's row on from the seq it must be at; gives its number, or nothing if it is elsewhere.
UPDATE run_rows
SET flow = ?4, plan = ?5, state = ?6, paused = ?7, counts = ?8, triggered_at = ?9, started_at = ?10,
    completed_at = ?11, applied_seq = ?12, version = ?13, body = ?14,
    namespace = ?15, marks = ?16
WHERE run = ?1 AND tenant = ?2 AND workspace = ?3 AND applied_seq = ?17
RETURNING no
