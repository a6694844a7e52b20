-- Uses up a key; that it was free was checked in the same transaction.
INSERT INTO keys (tenant, workspace, key, run, body, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
