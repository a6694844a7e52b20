-- Runs that are remembered no longer, some at a time.
SELECT run, tenant, workspace, key FROM gone WHERE until <= ?1 ORDER BY until LIMIT ?2
