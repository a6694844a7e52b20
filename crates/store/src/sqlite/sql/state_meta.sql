-- Which ledger the rows belong to, and up to which position.
SELECT ledger, watermark FROM meta
