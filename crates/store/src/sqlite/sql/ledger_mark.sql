-- Why a stream is frozen; NULL if it is not.
SELECT frozen FROM streams WHERE run = ?1 AND tenant = ?2 AND workspace = ?3
