-- Takes away what a composite began with: it is over, or begins anew.
DELETE FROM given_rows WHERE id = ?1
