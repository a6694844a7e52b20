-- The lease of one task of a run, by its key.
SELECT r.run, r.tenant, r.workspace, x.id, x.generation, x.attempt, x.token, x.worker, x.deadline,
       x.span, x.queue, x.limit_key
FROM lease_rows x
JOIN run_rows r ON r.no = x.id >> 32
WHERE x.id = (?1 << 32) + ?2
