-- A run's first row; gives its number, or nothing if there is a row already.
INSERT INTO run_rows (run, tenant, workspace, flow, plan, state, paused, counts, triggered_at, started_at,
                      completed_at, applied_seq, version, body, namespace, marks)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (run, tenant, workspace) DO NOTHING
RETURNING no
