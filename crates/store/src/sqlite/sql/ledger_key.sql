-- Who used up a key.
SELECT run, body FROM keys WHERE tenant = ?1 AND workspace = ?2 AND key = ?3
