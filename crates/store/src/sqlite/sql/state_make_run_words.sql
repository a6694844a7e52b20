-- What the views print for a run's state: its word and its phase.
CREATE TABLE run_words (
    state INTEGER PRIMARY KEY,
    word  TEXT NOT NULL,
    phase TEXT NOT NULL
)
