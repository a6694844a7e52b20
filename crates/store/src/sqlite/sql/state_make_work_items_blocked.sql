-- The order of what something is in the way of: the same walk as along what is ready.
CREATE INDEX work_items_blocked ON work_items (graph, effective, priority, created_at, id) WHERE blocked
