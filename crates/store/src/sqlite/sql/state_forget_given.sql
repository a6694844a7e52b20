-- Takes away what a run and its composites began with: one stretch of the table.
DELETE FROM given_rows WHERE id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295
