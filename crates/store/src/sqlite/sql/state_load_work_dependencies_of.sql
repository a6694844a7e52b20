-- The dependencies of one item.
SELECT source, kind, target, body FROM work_dependencies WHERE graph = ?1 AND source = ?2 ORDER BY kind, target
