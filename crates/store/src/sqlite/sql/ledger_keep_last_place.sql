-- The last position stays taken, by an empty record of no stream: the next commit must not give it out again.
UPDATE records SET stream = 0, first = position, count = 0, last = '', bytes = '', checksum = 0
WHERE position = (SELECT max(position) FROM records) AND stream = ?1
