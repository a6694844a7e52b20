-- Dependencies from their other end.
CREATE INDEX work_dependencies_by_target ON work_dependencies (graph, target, source, kind)
