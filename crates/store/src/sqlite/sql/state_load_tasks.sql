-- The rows of a run's tasks: one stretch of the table.
SELECT id, scope, region, node, path, generation, state, attempt, token, ready_at, started_at, completed_at,
       output, error, body, version
FROM task_rows
WHERE id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295
ORDER BY id
