-- The next kind of run behind one: a look at the index for each kind there is, however many runs are of it.
SELECT flow, namespace, state FROM run_rows
WHERE (flow, namespace, state) > (?1, ?2, ?3)
ORDER BY flow, namespace, state
LIMIT 1
