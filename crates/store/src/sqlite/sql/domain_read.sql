-- The events of a queue after a place.
SELECT place, id, name, at, body FROM domain_queue
WHERE namespace = ?3 AND workspace = ?2 AND tenant = ?1 AND place > ?4
ORDER BY place LIMIT ?5
