-- Plans by their content hash, each stored once. A rowid table, because a plan can be megabytes long.
CREATE TABLE plans (
    hash  TEXT NOT NULL UNIQUE,
    bytes TEXT NOT NULL
)
