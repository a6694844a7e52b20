-- The ids of items and gates from one text up to another, in order.
SELECT id FROM work_items WHERE graph = ?1 AND id >= ?2 AND id < ?3
UNION ALL
SELECT id FROM work_gates WHERE graph = ?1 AND id >= ?2 AND id < ?3
ORDER BY id LIMIT ?4
