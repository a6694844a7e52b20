-- Runs that were taken away, remembered as long as their keys are kept. Made when a ledger is opened for writing, also
-- in one that was made before there was such a table.
CREATE TABLE IF NOT EXISTS gone (
    run        TEXT NOT NULL,
    tenant     TEXT NOT NULL,
    workspace  TEXT NOT NULL,
    seq        INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    removed_at INTEGER NOT NULL,
    key        TEXT,
    until      INTEGER NOT NULL,
    PRIMARY KEY (run, tenant, workspace)
) WITHOUT ROWID
