-- One row per run. `no` is the small number that the rows of its tasks carry; `plan` is the number of its
-- plan; `counts` is a JSON list, tasks per state; times are milliseconds, 0 is "not yet"; `namespace` is empty where
-- it is the flow's name; `marks` is a JSON map of what else a run is searched by,
-- of which `by` and `key` stand beside it for their indexes. `marks` and what comes from it never change.
CREATE TABLE run_rows (
    no           INTEGER PRIMARY KEY,
    run          TEXT NOT NULL,
    tenant       TEXT NOT NULL,
    workspace    TEXT NOT NULL,
    flow         TEXT NOT NULL,
    plan         INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    paused       INTEGER NOT NULL,
    counts       TEXT NOT NULL,
    triggered_at INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    completed_at INTEGER NOT NULL,
    applied_seq  INTEGER NOT NULL,
    version      TEXT NOT NULL,
    namespace    TEXT NOT NULL,
    marks        TEXT NOT NULL,
    by           TEXT,
    key          TEXT,
    body         TEXT NOT NULL,
    UNIQUE (run, tenant, workspace)
)
