-- What happened to each item, in order, as JSON.
CREATE TABLE work_notes (
    no    INTEGER PRIMARY KEY,
    graph INTEGER NOT NULL,
    item  TEXT NOT NULL,
    body  TEXT NOT NULL
)
