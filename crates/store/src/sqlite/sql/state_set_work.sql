-- Moves the head of a work graph's rows on from the seq it must be at; nothing is written if it is elsewhere.
UPDATE work_heads SET applied_seq = ?3, version = ?4, due = ?6
WHERE tenant = ?1 AND workspace = ?2 AND applied_seq = ?5 RETURNING no
