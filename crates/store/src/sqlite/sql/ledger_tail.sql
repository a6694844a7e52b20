-- The position of the last record.
SELECT coalesce(max(position), 0) FROM records
