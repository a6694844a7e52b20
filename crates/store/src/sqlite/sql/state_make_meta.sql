-- Which ledger these rows were derived from, and up to which of its positions. One row.
CREATE TABLE meta (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    ledger    TEXT NOT NULL,
    watermark INTEGER NOT NULL
)
