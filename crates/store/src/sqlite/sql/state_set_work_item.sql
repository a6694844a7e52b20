-- Writes an item.
INSERT OR REPLACE INTO work_items (
    graph, id, kind, status, ready, blocked, effective, priority, created_at, scheduled_for, claim_by, claim_until,
    assignee, owner, type, deadline, parent, ephemeral_in, draft_in, title, body, blockers
) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)
