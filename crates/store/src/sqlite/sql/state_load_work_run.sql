-- One run that items wait for.
SELECT run, state, gates FROM work_runs WHERE graph = ?1 AND run = ?2
