-- All queues, each with how much is in it.
SELECT namespace, count(*), min(place), max(place) FROM domain_queue
WHERE workspace = ?2 AND tenant = ?1 GROUP BY namespace ORDER BY namespace
