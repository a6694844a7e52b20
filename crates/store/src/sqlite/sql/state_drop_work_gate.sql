-- Takes a gate away.
DELETE FROM work_gates WHERE graph = ?1 AND id = ?2
