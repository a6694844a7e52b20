-- Which work graph it is, and where its rows are, and until when.
SELECT no, applied_seq, version, due FROM work_heads WHERE tenant = ?1 AND workspace = ?2
