-- Takes the head of a work graph's rows away.
DELETE FROM work_heads WHERE no = ?1
