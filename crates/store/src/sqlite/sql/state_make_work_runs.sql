-- Runs that items wait for and that have ended, and how.
CREATE TABLE work_runs (
    graph INTEGER NOT NULL,
    run   TEXT NOT NULL,
    state INTEGER NOT NULL,
    PRIMARY KEY (graph, run)
) WITHOUT ROWID
