-- The words of the run states; a test holds them to the states of the program. From 8 on a run is over.
INSERT INTO run_words (state, word, phase) VALUES
    (0,  'Pending',                'ready'),
    (1,  'Initializing',           'ready'),
    (2,  'EnqueuingTasks',         'ready'),
    (3,  'TasksInProcess',         'running'),
    (4,  'EvaluatingResults',      'running'),
    (5,  'WaitingForDependencies', 'waiting'),
    (6,  'WaitingForRetry',        'waiting'),
    (7,  'BlockedByFailures',      'blocked'),
    (8,  'Complete',               'succeeded'),
    (9,  'Error',                  'failed'),
    (10, 'Cancelled',              'cancelled'),
    (11, 'ResolvedManually',       'succeeded')
