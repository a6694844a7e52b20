-- Takes the notes of a work graph away.
DELETE FROM work_notes WHERE graph = ?1
