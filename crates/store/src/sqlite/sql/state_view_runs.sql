-- For people: one line per run, states as words, times as ISO text. Who froze a run, why and when is in its body
-- ($.frozen); whether it is marked, which what is damaged is too, in ledger.db (streams.frozen).
CREATE VIEW runs AS
SELECT r.tenant AS tenant_id,
       r.workspace AS workspace_id,
       r.run AS run_id,
       r.flow,
       p.hash AS plan,
       w.word AS state,
       w.phase,
       r.paused,
       (SELECT json_group_object(t.word, c.value)
        FROM json_each(r.counts) c JOIN task_words t ON t.state = c.key
        WHERE c.value > 0) AS counts,
       iif(r.triggered_at = 0, NULL, strftime('%Y-%m-%dT%H:%M:%fZ', r.triggered_at / 1000.0, 'unixepoch')) AS triggered_at,
       iif(r.started_at = 0, NULL, strftime('%Y-%m-%dT%H:%M:%fZ', r.started_at / 1000.0, 'unixepoch')) AS started_at,
       iif(r.completed_at = 0, NULL, strftime('%Y-%m-%dT%H:%M:%fZ', r.completed_at / 1000.0, 'unixepoch')) AS completed_at,
       iif(r.namespace = '', r.flow, r.namespace) AS namespace,
       r.marks ->> '$.by' AS asked_by,
       r.marks ->> '$.key' AS key,
       r.marks -> '$.labels' AS labels,
       r.applied_seq,
       r.version AS row_version,
       r.body
FROM run_rows r
JOIN run_words w ON w.state = r.state
LEFT JOIN plan_rows p ON p.no = r.plan
