-- The next kind of run behind one, among those with a label.
SELECT flow, namespace, state FROM label_rows
WHERE key = ?4 AND value = ?5 AND (flow, namespace, state) > (?1, ?2, ?3)
ORDER BY flow, namespace, state
LIMIT 1
