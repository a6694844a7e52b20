-- The words of the task states; a test holds them to the states of the program.
INSERT INTO task_words (state, word, phase, resolution) VALUES
    (0,  'Pending',                         'blocked',   0),
    (1,  'Enqueued',                        'ready',     0),
    (2,  'InProgress',                      'running',   0),
    (3,  'EnqueuedForOrchestration',        'running',   0),
    (4,  'EnqueuedAsErrorForOrchestration', 'running',   0),
    (5,  'WaitingForRetry',                 'waiting',   0),
    (6,  'Complete',                        'succeeded', 1),
    (7,  'Error',                           'failed',    2),
    (8,  'Cancelled',                       'cancelled', 4),
    (9,  'ResolvedManually',                'succeeded', 1),
    (10, 'Skipped',                         'skipped',   3)
