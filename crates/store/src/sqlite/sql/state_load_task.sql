-- The row of one task of a run, by its key.
SELECT id, scope, region, node, path, generation, state, attempt, token, ready_at, started_at, completed_at,
       output, error, body, version
FROM task_rows
WHERE id = (?1 << 32) + ?2
