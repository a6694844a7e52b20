-- Writes a lease. The deadline of one lease only moves later: several engines may write it, and its worker was told the
-- later one.
INSERT INTO lease_rows (id, generation, attempt, token, worker, deadline, span, queue, limit_key)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (id) DO UPDATE SET
    deadline = CASE WHEN token = excluded.token THEN max(deadline, excluded.deadline) ELSE excluded.deadline END,
    generation = excluded.generation,
    attempt = excluded.attempt,
    token = excluded.token,
    worker = excluded.worker,
    span = excluded.span,
    queue = excluded.queue,
    limit_key = excluded.limit_key
