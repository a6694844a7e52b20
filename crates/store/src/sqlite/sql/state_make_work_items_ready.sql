-- The order of what nothing is in the way of: a walk along it finds the first ones without looking at the rest.
CREATE INDEX work_items_ready ON work_items (graph, effective, priority, created_at, id) WHERE ready
