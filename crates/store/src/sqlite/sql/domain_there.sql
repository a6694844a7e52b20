-- Whether there are queues of domain events: a ledger that was only read since has none.
SELECT count(*) FROM sqlite_schema WHERE name = 'domain_kept'
