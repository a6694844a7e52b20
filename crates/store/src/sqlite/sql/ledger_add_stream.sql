-- Gives a stream its number, at its first record.
INSERT INTO streams (run, tenant, workspace) VALUES (?1, ?2, ?3)
