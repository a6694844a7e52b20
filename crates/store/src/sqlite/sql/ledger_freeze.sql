-- Marks a stream frozen with a reason, or takes the mark away (NULL).
UPDATE streams SET frozen = ?4 WHERE run = ?1 AND tenant = ?2 AND workspace = ?3
