-- Takes the gates of a work graph away.
DELETE FROM work_gates WHERE graph = ?1
