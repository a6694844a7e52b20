-- Leases as they were last written; `id` is the id of the task's row.
CREATE TABLE lease_rows (
    id         INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    token      INTEGER NOT NULL,
    worker     TEXT NOT NULL,
    deadline   INTEGER NOT NULL,
    span       INTEGER,
    queue      TEXT,
    limit_key  TEXT
)
