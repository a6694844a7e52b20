-- For people: the timers that are set. `row_version` is that of the task, or of the run while the task has no row.
CREATE VIEW timers AS
SELECT r.tenant AS tenant_id,
       r.workspace AS workspace_id,
       r.run AS run_id,
       coalesce(t.path, n.name) AS task_key,
       CASE x.kind WHEN 0 THEN 'retry' WHEN 1 THEN 'gate' WHEN 2 THEN 'deadline' WHEN 3 THEN 'queue' WHEN 4 THEN 'overall' WHEN 5 THEN 'attempt' WHEN 6 THEN 'escalation' END
           AS kind,
       x.generation,
       x.attempt,
       strftime('%Y-%m-%dT%H:%M:%fZ', x.due / 1000.0, 'unixepoch') AS due_at,
       coalesce(t.version, r.version) AS row_version
FROM timer_rows x
JOIN run_rows r ON r.no = x.task >> 32
LEFT JOIN task_rows t ON t.id = x.task
LEFT JOIN node_rows n ON n.plan = r.plan AND n.region = coalesce(t.region, 0)
                     AND n.node = coalesce(t.node, x.task & 4294967295)
