"""A worker for tests that pause or stop it from outside: it says when its handler begins, and ends when told."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from edgewise import Context, Worker

url, flag, lease = sys.argv[1:4]
worker = Worker(url, name="paused", concurrency=1, lease=float(lease))


@worker.task("paused")
def paused(context: Context) -> str:
    print("begun", flush=True)
    # A file that a test makes is the only thing that reaches a process which was stopped.
    while not Path(flag).exists():
        if context.cancelled.wait(0.02):
            print("cancelled", flush=True)
            context.check()
    return "the worker that was paused"


logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
worker.run()
print("stopped", flush=True)
