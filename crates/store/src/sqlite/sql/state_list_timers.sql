-- Every timer that is set, the earliest first. Read once, when an engine starts.
SELECT r.run, r.tenant, r.workspace, x.task, x.kind, x.generation, x.attempt, x.due
FROM timer_rows x
JOIN run_rows r ON r.no = x.task >> 32
ORDER BY x.due, r.tenant, r.workspace, r.run, x.task, x.kind, x.generation, x.attempt
