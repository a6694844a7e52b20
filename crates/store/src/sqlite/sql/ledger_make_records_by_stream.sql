-- Finds a stream's records and its head; unique, so that even a broken guard could not fork a stream.
CREATE UNIQUE INDEX records_by_stream ON records (stream, first)
