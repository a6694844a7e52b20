-- The records of all streams after a position. The outer join keeps a record whose stream's row is
-- damaged in sight: it must be reported, not left out. Only what was taken away (`-`, stream 0) is passed over.
SELECT r.position, r.first, r.count, r.bytes, r.checksum, s.run, s.tenant, s.workspace
FROM records r
LEFT JOIN streams s ON s.id = r.stream
WHERE r.position > ?1 AND s.run IS NOT '-' AND r.stream <> 0
ORDER BY r.position
LIMIT ?2
