-- Writes a dependency.
INSERT OR REPLACE INTO work_dependencies (graph, source, target, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)
