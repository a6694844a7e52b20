-- Documents by the start of their key. Keys are ASCII, so everything with the prefix lies below prefix + DEL.
SELECT key, body FROM domain_kept
WHERE tenant = ?1 AND workspace = ?2 AND kind = ?3 AND key >= ?4 AND key < ?4 || char(127)
ORDER BY key LIMIT ?5
