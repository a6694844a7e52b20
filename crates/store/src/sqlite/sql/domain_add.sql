-- Puts an event in, unless it is there.
INSERT INTO domain_queue (tenant, workspace, namespace, id, name, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO NOTHING
