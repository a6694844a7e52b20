-- Runs of one kind with a label, the newest first, from ?4 until ?5. The cross join keeps the label first.
SELECT r.no, r.run, r.paused, r.triggered_at, r.marks, r.tenant, r.workspace
FROM label_rows l
CROSS JOIN run_rows r ON r.no = l.no
WHERE l.key = ?6 AND l.value = ?7 AND l.flow = ?1 AND l.namespace = ?2 AND l.state = ?3
  AND l.triggered_at BETWEEN ?4 AND ?5
ORDER BY l.triggered_at DESC, r.run DESC, r.tenant DESC, r.workspace DESC
