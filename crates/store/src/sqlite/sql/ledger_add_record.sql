-- The append itself: the next position, at the end of the table. About 2 us with its index entry.
INSERT INTO records (stream, first, count, last, bytes, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
