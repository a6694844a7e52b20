-- Which work graph it is, and where its rows are.
SELECT no, applied_seq, version FROM work_heads WHERE tenant = ?1 AND workspace = ?2
