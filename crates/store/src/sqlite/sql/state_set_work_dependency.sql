-- Writes a dependency.
INSERT OR REPLACE INTO work_dependencies (graph, source, kind, target, body) VALUES (?1, ?2, ?3, ?4, ?5)
