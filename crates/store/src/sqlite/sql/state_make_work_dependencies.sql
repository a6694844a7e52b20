-- Dependencies: who waits for what, or has to do with it. A kind is its number in the list of kinds.
CREATE TABLE work_dependencies (
    graph  INTEGER NOT NULL,
    source TEXT NOT NULL,
    kind   INTEGER NOT NULL,
    target TEXT NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (graph, source, kind, target)
) WITHOUT ROWID
