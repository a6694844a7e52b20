-- Runs that items wait for, how those ended that have, and how gates of theirs did, as JSON.
CREATE TABLE work_runs (
    graph INTEGER NOT NULL,
    run   TEXT NOT NULL,
    state INTEGER,
    gates TEXT NOT NULL,
    PRIMARY KEY (graph, run)
) WITHOUT ROWID
