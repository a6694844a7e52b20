-- Finds what is remembered no longer.
CREATE INDEX IF NOT EXISTS gone_by_until ON gone (until)
