-- How many runs one person asked for, counted no further than ?1.
SELECT count(*) FROM (SELECT 1 FROM run_rows WHERE by = ?2 LIMIT ?1)
