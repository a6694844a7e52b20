-- Dependencies: who waits for what, or has to do with it.
CREATE TABLE work_dependencies (
    graph  INTEGER NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (graph, source, target, kind)
) WITHOUT ROWID
