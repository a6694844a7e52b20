-- Takes a dependency away.
DELETE FROM work_dependencies WHERE graph = ?1 AND source = ?2 AND kind = ?3 AND target = ?4
