"""A worker that writes down what it does, past every engine: one line for each attempt that it performs."""

from __future__ import annotations

import os
import sys
import time

from edgewise import Context, Worker

url, file = sys.argv[1:3]
worker = Worker(url, concurrency=8, lease=2.0)
tale = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


@worker.task("effect")
def effect(context: Context) -> int:
    # One write, so that a line is there as a whole or not at all.
    os.write(tale, f"{context.key} {context.attempt}\n".encode())
    time.sleep(0.005)
    return context.attempt


worker.run()
