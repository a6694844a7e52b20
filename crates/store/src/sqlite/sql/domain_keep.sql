-- Keeps a document.
INSERT INTO domain_kept (tenant, workspace, kind, key, body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET body = excluded.body
