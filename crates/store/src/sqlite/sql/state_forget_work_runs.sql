-- Takes the runs of a work graph away.
DELETE FROM work_runs WHERE graph = ?1
