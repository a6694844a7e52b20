-- The history of an item, in order.
SELECT body FROM work_notes WHERE graph = ?1 AND item = ?2 ORDER BY no
