-- Forgets a run that was taken away.
DELETE FROM gone WHERE run = ?1 AND tenant = ?2 AND workspace = ?3
