-- Takes a run's leases away: one stretch of the table.
DELETE FROM lease_rows WHERE id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295
