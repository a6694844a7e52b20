-- A run has not ended after all.
DELETE FROM work_runs WHERE graph = ?1 AND run = ?2
