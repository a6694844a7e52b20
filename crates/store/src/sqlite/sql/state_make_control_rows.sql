-- Flows, schedules and settings of a workspace: one row each, its body as JSON.
CREATE TABLE control_rows (
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (tenant, workspace, kind, name)
) WITHOUT ROWID
