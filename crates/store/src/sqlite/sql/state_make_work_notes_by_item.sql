-- The history of one item.
CREATE INDEX work_notes_by_item ON work_notes (graph, item)
