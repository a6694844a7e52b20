-- Timers that are set; `task` is the id of a task's row.
CREATE TABLE timer_rows (
    task       INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    due        INTEGER NOT NULL,
    PRIMARY KEY (task, kind, generation, attempt)
) WITHOUT ROWID
