-- Runs of one kind with two labels, the newest first, from ?4 until ?5. The cross joins keep the rarer label first, and
-- read a run only once both labels are known to be there.
SELECT r.no, r.run, r.paused, r.triggered_at, r.marks, r.tenant, r.workspace
FROM label_rows l
CROSS JOIN label_rows m ON m.key = ?8 AND m.value = ?9 AND m.flow = l.flow AND m.namespace = l.namespace
  AND m.state = l.state AND m.triggered_at = l.triggered_at AND m.no = l.no
CROSS JOIN run_rows r ON r.no = l.no
WHERE l.key = ?6 AND l.value = ?7 AND l.flow = ?1 AND l.namespace = ?2 AND l.state = ?3
  AND l.triggered_at BETWEEN ?4 AND ?5
ORDER BY l.triggered_at DESC, r.run DESC, r.tenant DESC, r.workspace DESC
