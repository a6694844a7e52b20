-- Gives a plan its number, unless it has one; its nodes may come later.
INSERT INTO plan_rows (hash) VALUES (?1) ON CONFLICT (hash) DO NOTHING
