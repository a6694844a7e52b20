-- A row for each label of each run, within it sorted as runs are by kind: so a search for a label together with a flow
-- or a state walks only what fits. `no` is the number of the run.
CREATE TABLE label_rows (
    key          TEXT NOT NULL,
    value        TEXT NOT NULL,
    flow         TEXT NOT NULL,
    namespace    TEXT NOT NULL,
    state        INTEGER NOT NULL,
    triggered_at INTEGER NOT NULL,
    no           INTEGER NOT NULL,
    PRIMARY KEY (key, value, flow, namespace, state, triggered_at, no)
) WITHOUT ROWID
