-- The work graphs there are, each with its number, and up to which event of its stream
-- the rows are. When `due` comes, something happens by itself, and the rows are not the whole truth any more.
CREATE TABLE work_heads (
    no          INTEGER PRIMARY KEY,
    tenant      TEXT NOT NULL,
    workspace   TEXT NOT NULL,
    applied_seq INTEGER NOT NULL,
    version     TEXT NOT NULL,
    due         INTEGER,
    UNIQUE (tenant, workspace)
)
