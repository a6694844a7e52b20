-- Takes a timer away.
DELETE FROM timer_rows WHERE task = ?1 AND kind = ?2 AND generation = ?3 AND attempt = ?4
