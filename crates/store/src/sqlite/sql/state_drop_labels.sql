-- Takes the labels of a run away, as they were written: each is found by its key.
DELETE FROM label_rows
WHERE (key, value, flow, namespace, state, triggered_at, no) IN (
    SELECT l.key, l.value, r.flow, r.namespace, r.state, r.triggered_at, r.no
    FROM run_rows r, json_each(r.marks, '$.labels') l
    WHERE r.no = ?1
)
