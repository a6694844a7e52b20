-- Adds to the history of an item.
INSERT INTO work_notes (graph, item, body) VALUES (?1, ?2, ?3)
