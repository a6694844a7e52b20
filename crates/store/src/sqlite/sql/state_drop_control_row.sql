-- Takes a control row away.
DELETE FROM control_rows WHERE tenant = ?1 AND workspace = ?2 AND kind = ?3 AND name = ?4
