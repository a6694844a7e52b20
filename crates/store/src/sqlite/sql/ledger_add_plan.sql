-- Stores a plan unless it is there: the hash is of its content, so the one there is the same.
INSERT INTO plans (hash, bytes) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING
