-- Everybody who reads a queue.
SELECT namespace, name, place, at FROM domain_consumers
WHERE tenant = ?1 AND workspace = ?2 AND namespace <> '' ORDER BY namespace, name
