-- All dependencies of a work graph.
SELECT source, kind, target, body FROM work_dependencies WHERE graph = ?1 ORDER BY source, kind, target
