-- The runs that items wait for, by id.
SELECT run, state, gates FROM work_runs WHERE graph = ?1 ORDER BY run
