-- Runs that items wait for, and how those ended that have.
CREATE TABLE work_runs (
    graph INTEGER NOT NULL,
    run   TEXT NOT NULL,
    state INTEGER,
    PRIMARY KEY (graph, run)
) WITHOUT ROWID
