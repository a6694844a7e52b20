-- Runs of one kind that somebody asked for, the newest first, from ?4 until ?5; only what tells whether they fit.
SELECT no, run, paused, triggered_at, marks, tenant, workspace FROM run_rows
WHERE by = ?6 AND flow = ?1 AND namespace = ?2 AND state = ?3 AND triggered_at BETWEEN ?4 AND ?5
ORDER BY triggered_at DESC, run DESC, tenant DESC, workspace DESC
