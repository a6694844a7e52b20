-- Writes what is known of a run.
INSERT OR REPLACE INTO work_runs (graph, run, state, gates) VALUES (?1, ?2, ?3, ?4)
