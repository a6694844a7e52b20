-- The control rows of a workspace, in order.
SELECT kind, name, body FROM control_rows WHERE tenant = ?1 AND workspace = ?2 ORDER BY kind, name
