-- Gates of a work graph: when those open that time opens, which have ended, and all of each as JSON.
CREATE TABLE work_gates (
    graph    INTEGER NOT NULL,
    id       TEXT NOT NULL,
    opens_at INTEGER,
    ended    INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (graph, id)
) WITHOUT ROWID
