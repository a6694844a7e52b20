-- The same event is put in once, however often it is derived.
CREATE UNIQUE INDEX IF NOT EXISTS domain_queue_by_id ON domain_queue (id, workspace, tenant)
