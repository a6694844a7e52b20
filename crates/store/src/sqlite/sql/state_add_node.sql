-- One node of a plan.
INSERT INTO node_rows (plan, region, node, name, kind, max_attempts, needs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
