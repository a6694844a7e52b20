-- For people: one line per task, also for tasks of the root region that nothing happened to yet.
-- `deps_satisfied_count` is counted here from the states of the upstream tasks, never kept.
CREATE VIEW tasks AS
SELECT t.tenant AS tenant_id,
       t.workspace AS workspace_id,
       t.run AS run_id,
       t.path AS task_key,
       t.kind,
       t.generation,
       w.word AS state,
       iif(t.state = 2 AND t.kind IN ('gate', 'spread'), 'waiting', w.phase) AS phase,
       t.attempt,
       t.max_attempts,
       json_array_length(t.needs) AS deps_total,
       (SELECT count(*)
        FROM json_each(t.needs) e
        CROSS JOIN task_rows u ON u.id = (t.no << 32) | (t.base + (e.value >> 4))
        CROSS JOIN task_words v ON v.state = u.state
        WHERE v.resolution > 0 AND NOT (u.state = 7 AND t.held) AND (e.value >> (v.resolution - 1)) & 1)
           AS deps_satisfied_count,
       iif(t.ready_at > 0, strftime('%Y-%m-%dT%H:%M:%fZ', t.ready_at / 1000.0, 'unixepoch'), NULL) AS ready_at,
       iif(t.started_at > 0, strftime('%Y-%m-%dT%H:%M:%fZ', t.started_at / 1000.0, 'unixepoch'), NULL) AS started_at,
       iif(t.completed_at > 0, strftime('%Y-%m-%dT%H:%M:%fZ', t.completed_at / 1000.0, 'unixepoch'), NULL) AS completed_at,
       iif(t.state IN (8, 10), NULL, t.error) AS error,
       iif(t.state IN (8, 10), t.error, NULL) AS skip_reason,
       t.output,
       t.state AS state_rank,
       t.version AS row_version
FROM task_facts t
JOIN task_words w ON w.state = t.state
