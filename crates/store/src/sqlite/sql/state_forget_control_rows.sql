-- Takes the control rows of a workspace away.
DELETE FROM control_rows WHERE tenant = ?1 AND workspace = ?2
