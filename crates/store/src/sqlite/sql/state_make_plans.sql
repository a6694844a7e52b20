-- Plans by number. `written` says that the nodes are there; `hold` that a failure leaves edges open.
CREATE TABLE plan_rows (
    no      INTEGER PRIMARY KEY,
    hash    TEXT NOT NULL UNIQUE,
    hold    INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0
)
