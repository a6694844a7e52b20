-- The next kind of run behind one, among those that somebody asked for. In three steps, like the next kind among all.
SELECT flow, namespace, state FROM (
    SELECT flow, namespace, state FROM run_rows
    WHERE by = ?4 AND flow = ?1 AND namespace = ?2 AND state > ?3 ORDER BY state LIMIT 1
)
UNION ALL
SELECT flow, namespace, state FROM (
    SELECT flow, namespace, state FROM run_rows
    WHERE by = ?4 AND flow = ?1 AND namespace > ?2 ORDER BY namespace, state LIMIT 1
)
UNION ALL
SELECT flow, namespace, state FROM (
    SELECT flow, namespace, state FROM run_rows
    WHERE by = ?4 AND flow > ?1 ORDER BY flow, namespace, state LIMIT 1
)
LIMIT 1
