-- Tasks that nothing is in the way of, the first one first.
SELECT id, kind, status, ready, blocked, effective, priority, created_at, scheduled_for, claim_by, claim_until,
    assignee, owner, type, deadline, parent, ephemeral_in, draft_in, title, body, blockers
FROM work_items WHERE graph = ?1 AND ready AND kind = 'task' ORDER BY effective, priority, created_at, id
