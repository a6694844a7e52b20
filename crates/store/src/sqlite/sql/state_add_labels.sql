-- Writes the labels of a run.
INSERT OR IGNORE INTO label_rows (key, value, flow, namespace, state, triggered_at, no)
SELECT l.key, l.value, r.flow, r.namespace, r.state, r.triggered_at, r.no
FROM run_rows r, json_each(r.marks, '$.labels') l
WHERE r.no = ?1
