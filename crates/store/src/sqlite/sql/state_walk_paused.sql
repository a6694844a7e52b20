-- Runs that are paused, the newest first, from ?1 until ?2.
SELECT r.no, r.run, r.flow, p.hash, r.state, r.paused, r.counts, r.triggered_at, r.started_at, r.completed_at,
       r.applied_seq, r.version, r.body, r.tenant, r.workspace, r.marks
FROM run_rows r
JOIN plan_rows p ON p.no = r.plan
WHERE r.paused AND r.triggered_at BETWEEN ?1 AND ?2
ORDER BY r.triggered_at DESC, r.run DESC, r.tenant DESC, r.workspace DESC
