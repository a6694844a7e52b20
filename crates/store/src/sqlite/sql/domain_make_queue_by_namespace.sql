-- A queue is the events of one namespace.
CREATE INDEX IF NOT EXISTS domain_queue_by_namespace ON domain_queue (namespace, workspace, tenant, place)
