-- A run's number, and the seq its rows are at.
SELECT no, applied_seq FROM run_rows WHERE run = ?1 AND tenant = ?2 AND workspace = ?3
