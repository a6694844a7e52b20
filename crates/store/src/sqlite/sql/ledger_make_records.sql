-- The ground: one row per stream and commit, only ever added to. `bytes` is JSON text, so that sqlite3 and
-- jq read it; `last` is the id of the record's last event. `position` is the order over all streams.
CREATE TABLE records (
    position INTEGER PRIMARY KEY,
    stream   INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    last     TEXT NOT NULL,
    bytes    TEXT NOT NULL,
    checksum INTEGER NOT NULL
)
