-- A plan's number, and whether its nodes are written.
SELECT no, written FROM plan_rows WHERE hash = ?1
