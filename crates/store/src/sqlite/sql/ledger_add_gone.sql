-- Remembers a run that is taken away.
INSERT OR REPLACE INTO gone (run, tenant, workspace, seq, state, ended_at, removed_at, key, until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
