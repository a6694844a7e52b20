-- One gate.
SELECT id, opens_at, ended, body FROM work_gates WHERE graph = ?1 AND id = ?2
