-- What is remembered of a run that was taken away.
SELECT seq, state, ended_at, removed_at, key, until FROM gone WHERE run = ?1 AND tenant = ?2 AND workspace = ?3
