-- The ids of gates and of items that are not deleted, from a text on, in order.
SELECT id FROM work_items WHERE graph = ?1 AND id >= ?2 AND status <> 'tombstone'
UNION ALL
SELECT id FROM work_gates WHERE graph = ?1 AND id >= ?2
ORDER BY id LIMIT ?3
