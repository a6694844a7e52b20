-- Whether anything is remembered of runs that were taken away: a ledger that was only read since has no such table.
SELECT count(*) FROM sqlite_schema WHERE name = 'gone'
