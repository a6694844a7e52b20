-- How far each consumer of a queue has come. The publisher is one too: of the ledger, under the namespace ''.
CREATE TABLE IF NOT EXISTS domain_consumers (
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name      TEXT NOT NULL,
    place     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (tenant, workspace, namespace, name)
) WITHOUT ROWID
