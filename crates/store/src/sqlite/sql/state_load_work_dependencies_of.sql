-- The dependencies of one item.
SELECT source, target, kind, body FROM work_dependencies WHERE graph = ?1 AND source = ?2 ORDER BY target, kind
