-- Gives the key of a run free that was taken away.
DELETE FROM keys WHERE tenant = ?1 AND workspace = ?2 AND key = ?3 AND run = ?4
