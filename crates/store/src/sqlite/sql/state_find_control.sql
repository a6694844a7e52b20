-- Where the control rows of a workspace are.
SELECT applied_seq, version FROM control_heads WHERE tenant = ?1 AND workspace = ?2
