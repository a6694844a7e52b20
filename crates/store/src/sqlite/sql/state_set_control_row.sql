-- Writes a control row.
INSERT OR REPLACE INTO control_rows (tenant, workspace, kind, name, body) VALUES (?1, ?2, ?3, ?4, ?5)
