-- Runs, the newest first. ?2 is the set of wanted states, one bit for each; walks the index by time and stops at ?3.
SELECT r.no, r.run, r.flow, p.hash, r.state, r.paused, r.counts, r.triggered_at, r.started_at, r.completed_at,
       r.applied_seq, r.version, r.body, r.tenant, r.workspace
FROM run_rows r
JOIN plan_rows p ON p.no = r.plan
WHERE (?1 IS NULL OR r.flow = ?1) AND (?2 >> r.state) & 1
ORDER BY r.triggered_at DESC, r.run DESC, r.tenant DESC, r.workspace DESC
LIMIT ?3
