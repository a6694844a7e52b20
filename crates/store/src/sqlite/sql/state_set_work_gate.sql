-- Writes a gate.
INSERT OR REPLACE INTO work_gates (graph, id, opens_at, ended, body) VALUES (?1, ?2, ?3, ?4, ?5)
