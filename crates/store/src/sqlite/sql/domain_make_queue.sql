-- Domain events, in the order in which they were published. AUTOINCREMENT: a place is never given out again, also
-- after the last event was taken away, because consumers remember places.
CREATE TABLE IF NOT EXISTS domain_queue (
    place     INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant    TEXT NOT NULL,
    workspace TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id        TEXT NOT NULL,
    name      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    body      TEXT NOT NULL
)
