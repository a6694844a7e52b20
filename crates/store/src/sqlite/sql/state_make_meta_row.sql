-- Names the ledger; nothing of it is applied yet.
INSERT INTO meta (one, ledger, watermark) VALUES (1, ?1, 0)
