-- Of places that are kept only the last is needed.
DELETE FROM records WHERE stream = 0 AND position < (SELECT max(position) FROM records)
