-- Gates of a work graph, each as JSON.
CREATE TABLE work_gates (
    graph INTEGER NOT NULL,
    id    TEXT NOT NULL,
    body  TEXT NOT NULL,
    PRIMARY KEY (graph, id)
) WITHOUT ROWID
