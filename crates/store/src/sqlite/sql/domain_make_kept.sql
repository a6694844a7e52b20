-- Webhooks, the events that they could not be told, and workers that are called.
CREATE TABLE IF NOT EXISTS domain_kept (
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    kind      TEXT NOT NULL,
    key       TEXT NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (tenant, workspace, kind, key)
) WITHOUT ROWID
