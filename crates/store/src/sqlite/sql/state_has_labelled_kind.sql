-- Whether a run of one kind has a label.
SELECT EXISTS (SELECT 1 FROM label_rows WHERE key = ?4 AND value = ?5 AND flow = ?1 AND namespace = ?2 AND state = ?3)
