-- The streams, each with a small number that its records carry. `frozen` is the reason, if it is frozen.
-- The run comes first in the key: it tells almost alone, and a run is found by the start of its id.
CREATE TABLE streams (
    id        INTEGER PRIMARY KEY,
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    run       TEXT NOT NULL,
    frozen    TEXT,
    UNIQUE (run, tenant, workspace)
)
