-- Takes an item away.
DELETE FROM work_items WHERE graph = ?1 AND id = ?2
