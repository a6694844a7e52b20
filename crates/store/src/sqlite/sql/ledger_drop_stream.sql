-- Forgets a stream that has no record left.
DELETE FROM streams WHERE id = ?1
