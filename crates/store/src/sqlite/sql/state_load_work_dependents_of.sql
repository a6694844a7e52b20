-- The dependencies that point to one item.
SELECT source, kind, target, body FROM work_dependencies WHERE graph = ?1 AND target = ?2 ORDER BY kind, source
