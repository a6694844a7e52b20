-- Counts positions without a record, so that a record that is lost is still missed.
INSERT INTO meta (name, value) VALUES ('removed', ?1)
ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + CAST(?1 AS INTEGER)
