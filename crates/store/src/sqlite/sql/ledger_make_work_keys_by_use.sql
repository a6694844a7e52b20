-- Finds the oldest keys of operations on the work graph, whose stream has this id and is never taken away. Made when a
-- ledger is opened for writing, also in one that was made before there was such an index.
CREATE INDEX IF NOT EXISTS work_keys_by_use ON keys (tenant, workspace, at) WHERE run = 'zzzzzzzzzzzzzzzy'
