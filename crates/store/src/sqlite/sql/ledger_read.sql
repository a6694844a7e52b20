-- A stream's records with events after a seq. The subquery finds the record that holds the next event;
-- only that one is measured by its `count`, so that a damaged count cannot hide a later record.
SELECT r.position, r.first, r.count, r.bytes, r.checksum
FROM records r
JOIN streams s ON s.id = r.stream
WHERE s.run = ?1 AND s.tenant = ?2 AND s.workspace = ?3
  AND r.first >= coalesce((SELECT max(first) FROM records WHERE stream = s.id AND first <= ?4), 0)
  AND (r.first > ?4 OR r.first + r.count - 1 > ?4)
ORDER BY r.first
LIMIT ?5
