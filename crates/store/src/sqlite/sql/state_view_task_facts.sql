-- What the other views are made of: every task of the root region, with its row or without (then it is
-- Pending, generation 1), and every row of a task in a spread's scope. A run's first tasks are the nodes of
-- the root region, in their order. `base` is the task of node 0 in the same scope; `held` says that
-- a failure leaves out-edges open, because the plan holds failures and the run is not over.
CREATE VIEW task_facts AS
SELECT r.no, r.tenant, r.workspace, r.run, r.plan, p.hold AND r.state < 8 AS held,
       0 AS base, n.region, n.node, n.name, n.name AS path, n.kind, n.max_attempts, n.needs,
       coalesce(t.generation, 1) AS generation, coalesce(t.state, 0) AS state, coalesce(t.attempt, 0) AS attempt,
       t.ready_at, t.started_at, t.completed_at, t.output, t.error, coalesce(t.version, r.version) AS version
FROM run_rows r
JOIN plan_rows p ON p.no = r.plan
JOIN node_rows n ON n.plan = r.plan AND n.region = 0
LEFT JOIN task_rows t ON t.id = (r.no << 32) | n.node
UNION ALL
SELECT r.no, r.tenant, r.workspace, r.run, r.plan, p.hold AND r.state < 8,
       (t.id & 4294967295) - t.node, t.region, t.node, n.name, coalesce(t.path, n.name), n.kind,
       n.max_attempts, coalesce(n.needs, '[]'),
       t.generation, t.state, t.attempt,
       t.ready_at, t.started_at, t.completed_at, t.output, t.error, t.version
FROM run_rows r
JOIN plan_rows p ON p.no = r.plan
JOIN task_rows t ON t.id BETWEEN r.no << 32 AND (r.no << 32) + 4294967295
LEFT JOIN node_rows n ON n.plan = r.plan AND n.region = t.region AND n.node = t.node
WHERE t.region > 0 OR n.node IS NULL
