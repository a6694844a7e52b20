-- Streams by the start of their run id. Ids are 0-9 and a-z, so everything with the prefix lies below prefix + DEL.
SELECT run, tenant, workspace FROM streams
WHERE run >= ?1 AND run < ?1 || char(127) AND run <> '-'
ORDER BY run, tenant, workspace
LIMIT ?2
