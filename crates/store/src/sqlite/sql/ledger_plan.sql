-- A plan's stored bytes.
SELECT bytes FROM plans WHERE hash = ?1
