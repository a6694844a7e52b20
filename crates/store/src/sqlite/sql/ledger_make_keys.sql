-- Keys used up within a workspace, with the run they named and the hash of the request that used them.
CREATE TABLE keys (
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    key       TEXT NOT NULL,
    run       TEXT NOT NULL,
    body      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (tenant, workspace, key)
) WITHOUT ROWID
