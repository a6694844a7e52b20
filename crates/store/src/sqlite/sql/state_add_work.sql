-- The first head of a work graph's rows; nothing is written if there is one.
INSERT INTO work_heads (tenant, workspace, applied_seq, version, due) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (tenant, workspace) DO NOTHING RETURNING no
