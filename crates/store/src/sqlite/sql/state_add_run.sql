-- A run's first row; nothing if there is a row already. RETURNING its number would make SQLite keep a journal of the
-- statement, which costs more than the row.
INSERT INTO run_rows (run, tenant, workspace, flow, plan, state, paused, counts, triggered_at, started_at,
                      completed_at, applied_seq, version, body, namespace, marks, by, key)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
ON CONFLICT (run, tenant, workspace) DO NOTHING
