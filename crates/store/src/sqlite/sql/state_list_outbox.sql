-- Every task that waits for a worker, the longest waiting first. Read once, when an engine starts.
SELECT r.run, r.tenant, r.workspace, x.id, x.generation, x.attempt, x.action, x.ready_at,
       x.queue, x.priority, x.limit_key, x.limit_max, x.limit_rate
FROM outbox_rows x
JOIN run_rows r ON r.no = x.id >> 32
ORDER BY x.ready_at, r.tenant, r.workspace, r.run, x.id
