-- A plan's nodes, written once per plan. `needs` packs the in-edges as a JSON list of numbers:
-- (upstream node << 4) | the set of accepted resolutions (1 SUCCESS, 2 FAILED, 4 SKIPPED, 8 CANCELLED).
CREATE TABLE node_rows (
    plan         INTEGER NOT NULL,
    region       INTEGER NOT NULL,
    node         INTEGER NOT NULL,
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    max_attempts INTEGER NOT NULL,
    needs        TEXT NOT NULL,
    PRIMARY KEY (plan, region, node)
) WITHOUT ROWID
