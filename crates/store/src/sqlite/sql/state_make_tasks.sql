-- One row per task that has left its first state; id = (run's no << 32) | task. No other index: a flush
-- is mostly these rows.
CREATE TABLE task_rows (
    id           INTEGER PRIMARY KEY,
    scope        INTEGER NOT NULL,
    region       INTEGER NOT NULL,
    node         INTEGER NOT NULL,
    path         TEXT,
    generation   INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    token        INTEGER NOT NULL,
    ready_at     INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER NOT NULL,
    output       TEXT,
    error        TEXT,
    body         TEXT,
    version      TEXT NOT NULL
)
