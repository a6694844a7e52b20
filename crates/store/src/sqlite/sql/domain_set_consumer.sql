-- Moves a consumer on, and never back.
INSERT INTO domain_consumers (tenant, workspace, namespace, name, place, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT DO UPDATE SET place = max(place, excluded.place), at = excluded.at
