-- A stream whose name was taken away and that is still to be given back.
SELECT id FROM streams WHERE run = '-' LIMIT 1
