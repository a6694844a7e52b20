-- Takes the head of the control rows of a workspace away.
DELETE FROM control_heads WHERE tenant = ?1 AND workspace = ?2
