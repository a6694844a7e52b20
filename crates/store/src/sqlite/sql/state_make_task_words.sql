-- What the views print for a task's state: its word, its phase, and how the out-edges of a task in it are
-- resolved (1 SUCCESS, 2 FAILED, 3 SKIPPED, 4 CANCELLED; 0 open).
CREATE TABLE task_words (
    state      INTEGER PRIMARY KEY,
    word       TEXT NOT NULL,
    phase      TEXT NOT NULL,
    resolution INTEGER NOT NULL
)
