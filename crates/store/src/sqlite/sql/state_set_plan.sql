-- A plan's nodes are written; `hold` is its rule about failures.
UPDATE plan_rows SET written = 1, hold = ?2 WHERE no = ?1
