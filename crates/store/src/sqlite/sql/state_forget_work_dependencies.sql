-- Takes the dependencies of a work graph away.
DELETE FROM work_dependencies WHERE graph = ?1
