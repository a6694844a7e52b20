-- Takes a dependency away.
DELETE FROM work_dependencies WHERE graph = ?1 AND source = ?2 AND target = ?3 AND kind = ?4
