-- The frozen streams with their reasons. A scan: asked once at start and by people.
SELECT run, tenant, workspace, frozen FROM streams WHERE frozen IS NOT NULL ORDER BY tenant, workspace, run
