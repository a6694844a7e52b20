-- Forgets a run that nobody waits for.
DELETE FROM work_runs WHERE graph = ?1 AND run = ?2
