-- The id that projections must name to belong to this ledger.
SELECT value FROM meta WHERE name = 'ledger'
