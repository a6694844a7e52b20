-- Every lease as it was last written. Read once, when an engine starts.
SELECT r.run, r.tenant, r.workspace, x.id, x.generation, x.attempt, x.token, x.worker, x.deadline,
       x.span, x.queue, x.limit_key
FROM lease_rows x
JOIN run_rows r ON r.no = x.id >> 32
ORDER BY r.tenant, r.workspace, r.run, x.id
