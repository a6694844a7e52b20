-- All dependencies of a work graph.
SELECT source, target, kind, body FROM work_dependencies WHERE graph = ?1 ORDER BY source, target, kind
