-- All gates of a work graph, by id.
SELECT id, body FROM work_gates WHERE graph = ?1 ORDER BY id
