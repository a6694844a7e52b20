-- What a composite began with, where that is too large for its own row; id as in task_rows, the last one for the run.
CREATE TABLE given_rows (
    id   INTEGER PRIMARY KEY,
    body TEXT NOT NULL
)
