-- The append itself: the next position, at the end of the table. Measured 4 us in a batch of 256, index included.
INSERT INTO records (stream, first, count, last, bytes, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
