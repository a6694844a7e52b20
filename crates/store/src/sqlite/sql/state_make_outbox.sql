-- Tasks that wait for a worker; `id` is the id of the task's row.
CREATE TABLE outbox_rows (
    id         INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    action     TEXT NOT NULL,
    ready_at   INTEGER NOT NULL,
    queue      TEXT,
    priority   INTEGER NOT NULL,
    limit_key  TEXT,
    limit_max  INTEGER,
    limit_rate TEXT
)
