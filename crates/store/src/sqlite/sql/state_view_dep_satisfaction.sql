-- For people: one line per edge, "downstream needs upstream", expanded from the plan and the rows at its
-- ends: all out-edges of a task resolve alike, so the upstream's state tells. `satisfied_at` is when it
-- was resolved, either way; an open edge has no resolution. An upstream in a spread's scope that has no
-- row yet has its sibling's path with its own name at the end. The cross joins keep SQLite from walking
-- all nodes of a plan for each task.
CREATE VIEW dep_satisfaction AS
SELECT e.tenant AS tenant_id,
       e.workspace AS workspace_id,
       e.run AS run_id,
       e.up_path AS upstream_task_key,
       e.down_path AS downstream_task_key,
       e.generation,
       rtrim(iif(e.accepts & 1, 'SUCCESS,', '') || iif(e.accepts & 2, 'FAILED,', '')
           || iif(e.accepts & 4, 'SKIPPED,', '') || iif(e.accepts & 8, 'CANCELLED,', ''), ',') AS accepts,
       e.resolution > 0 AND (e.accepts >> (e.resolution - 1)) & 1 AS satisfied,
       CASE e.resolution WHEN 1 THEN 'SUCCESS' WHEN 2 THEN 'FAILED' WHEN 3 THEN 'SKIPPED' WHEN 4 THEN 'CANCELLED' END
           AS resolution,
       iif(e.resolution > 0 AND e.completed_at > 0,
           strftime('%Y-%m-%dT%H:%M:%fZ', e.completed_at / 1000.0, 'unixepoch'), NULL) AS satisfied_at,
       iif(e.resolution > 0, e.attempt, NULL) AS satisfying_attempt,
       iif(e.resolution > 0, e.version, NULL) AS row_version
FROM (
    SELECT d.tenant, d.workspace, d.run, d.path AS down_path, d.generation,
           coalesce(u.path, substr(d.path, 1, length(d.path) - length(d.name)) || n.name) AS up_path,
           j.value & 15 AS accepts,
           iif(u.state = 7 AND d.held, 0, coalesce(w.resolution, 0)) AS resolution,
           u.completed_at, u.attempt, u.version
    FROM task_facts d
    CROSS JOIN json_each(d.needs) j
    CROSS JOIN node_rows n ON n.plan = d.plan AND n.region = d.region AND n.node = j.value >> 4
    LEFT JOIN task_rows u ON u.id = (d.no << 32) | (d.base + (j.value >> 4))
    LEFT JOIN task_words w ON w.state = u.state
) e
