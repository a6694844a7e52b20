-- The first head of a workspace's control rows; nothing is written if there is one.
INSERT INTO control_heads (tenant, workspace, applied_seq, version) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (tenant, workspace) DO NOTHING
