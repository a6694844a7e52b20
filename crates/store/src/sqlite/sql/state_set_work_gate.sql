-- Writes a gate.
INSERT OR REPLACE INTO work_gates (graph, id, body) VALUES (?1, ?2, ?3)
