-- The order of tasks that nothing is in the way of: a walk along it finds the first ones without looking at the rest,
-- however many plans would come before them.
CREATE INDEX work_items_tasks ON work_items (graph, effective, priority, created_at, id) WHERE ready AND kind = 'task'
