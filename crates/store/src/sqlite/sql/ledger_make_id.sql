-- Gives a new ledger its id, by SQLite's own chance: nothing is ever ordered or keyed by it.
INSERT INTO meta (name, value) VALUES ('ledger', lower(hex(randomblob(16))))
