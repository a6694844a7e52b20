-- What the file is: `ledger` is the id that projections name, given once when the file is made.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID
