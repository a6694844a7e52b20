-- Runs that were started with a key, with everything that tells whether they fit.
SELECT r.no, r.run, r.flow, p.hash, r.state, r.paused, r.counts, r.triggered_at, r.started_at, r.completed_at,
       r.applied_seq, r.version, r.body, r.tenant, r.workspace, r.marks
FROM run_rows r
JOIN plan_rows p ON p.no = r.plan
WHERE r.key = ?1
