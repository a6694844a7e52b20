-- Gives some records of a stream back.
DELETE FROM records WHERE position IN (SELECT position FROM records WHERE stream = ?1 ORDER BY first LIMIT ?2)
