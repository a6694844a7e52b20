-- Where a stream ends, with its number; a stream that was made but has no record has no `last`.
SELECT s.id, r.first + r.count - 1, r.last
FROM streams s
LEFT JOIN records r ON r.stream = s.id AND r.first = (SELECT max(first) FROM records WHERE stream = s.id)
WHERE s.run = ?1 AND s.tenant = ?2 AND s.workspace = ?3
