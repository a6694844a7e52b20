-- The next kind of run behind one: the next state, else the next namespace, else the next flow. Three comparisons of one
-- column each, because over a comparison of all three at once SQLite walks every run of the kind before.
SELECT flow, namespace, state FROM (
    SELECT flow, namespace, state FROM run_rows
    WHERE flow = ?1 AND namespace = ?2 AND state > ?3 ORDER BY state LIMIT 1
)
UNION ALL
SELECT flow, namespace, state FROM (
    SELECT flow, namespace, state FROM run_rows
    WHERE flow = ?1 AND namespace > ?2 ORDER BY namespace, state LIMIT 1
)
UNION ALL
SELECT flow, namespace, state FROM (
    SELECT flow, namespace, state FROM run_rows
    WHERE flow > ?1 ORDER BY flow, namespace, state LIMIT 1
)
LIMIT 1
