-- Takes a run's own row away.
DELETE FROM run_rows WHERE no = ?1
