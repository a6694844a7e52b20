-- Takes a document away.
DELETE FROM domain_kept WHERE tenant = ?1 AND workspace = ?2 AND kind = ?3 AND key = ?4
