-- What the composites of a run and itself began with: one stretch of the table.
SELECT id, body FROM given_rows WHERE id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295 ORDER BY id
