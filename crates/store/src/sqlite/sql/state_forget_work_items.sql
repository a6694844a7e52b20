-- Takes the items of a work graph away.
DELETE FROM work_items WHERE graph = ?1
