-- How many runs have a label, counted no further than ?1.
SELECT count(*) FROM (SELECT 1 FROM label_rows WHERE key = ?2 AND value = ?3 LIMIT ?1)
