-- For people: the tasks that wait for a worker. `row_version` is that of the task, or of the run while the task has no row.
CREATE VIEW dispatch_outbox AS
SELECT r.tenant AS tenant_id,
       r.workspace AS workspace_id,
       r.run AS run_id,
       coalesce(t.path, n.name) AS task_key,
       x.generation,
       x.attempt,
       x.action,
       strftime('%Y-%m-%dT%H:%M:%fZ', x.ready_at / 1000.0, 'unixepoch') AS ready_at,
       coalesce(x.queue, 'default') AS queue,
       x.priority,
       x.limit_key,
       x.limit_max,
       x.limit_rate,
       coalesce(t.version, r.version) AS row_version
FROM outbox_rows x
JOIN run_rows r ON r.no = x.id >> 32
LEFT JOIN task_rows t ON t.id = x.id
LEFT JOIN node_rows n ON n.plan = r.plan AND n.region = coalesce(t.region, 0)
                     AND n.node = coalesce(t.node, x.id & 4294967295)
