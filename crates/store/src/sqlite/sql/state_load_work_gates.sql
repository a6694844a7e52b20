-- All gates of a work graph, by id.
SELECT id, opens_at, ended, body FROM work_gates WHERE graph = ?1 ORDER BY id
