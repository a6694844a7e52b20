-- Takes a lease away.
DELETE FROM lease_rows WHERE id = ?1
