-- Keys of operations on the work graph that were used up by then, some at a time.
SELECT key FROM keys WHERE run = 'zzzzzzzzzzzzzzzy' AND tenant = ?1 AND workspace = ?2 AND at <= ?3 ORDER BY at LIMIT ?4
