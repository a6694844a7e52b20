-- Up to which event of its control stream the control rows of a workspace are.
CREATE TABLE control_heads (
    tenant      TEXT NOT NULL,
    workspace   TEXT NOT NULL,
    applied_seq INTEGER NOT NULL,
    version     TEXT NOT NULL,
    PRIMARY KEY (tenant, workspace)
) WITHOUT ROWID
