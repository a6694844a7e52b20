-- How far a consumer has come.
SELECT place FROM domain_consumers WHERE tenant = ?1 AND workspace = ?2 AND namespace = ?3 AND name = ?4
