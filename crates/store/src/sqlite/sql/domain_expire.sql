-- Takes events away that are old enough and acknowledged by everybody who reads their queue.
DELETE FROM domain_queue WHERE place IN (
    SELECT q.place FROM domain_queue q
    WHERE q.tenant = ?1 AND q.workspace = ?2 AND q.at < ?3
      AND q.place <= coalesce((SELECT min(c.place) FROM domain_consumers c
          WHERE c.tenant = q.tenant AND c.workspace = q.workspace AND c.namespace = q.namespace), q.place)
    ORDER BY q.place LIMIT ?4)
