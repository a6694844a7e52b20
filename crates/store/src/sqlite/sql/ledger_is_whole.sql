-- Whether everything is there that a ledger of the same format may not have yet.
SELECT count(*) = 3 FROM sqlite_master WHERE name IN ('gone', 'gone_by_until', 'work_keys_by_use')
