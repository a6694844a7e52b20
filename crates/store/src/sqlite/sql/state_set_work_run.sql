-- Writes what is known of a run.
INSERT OR REPLACE INTO work_runs (graph, run, state) VALUES (?1, ?2, ?3)
