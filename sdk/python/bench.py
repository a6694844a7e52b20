"""A worker that does nothing, quickly: claims and completes no-op tasks until it is told to stop.

    python bench.py --url URL [--queue NAME] [--concurrency N] [--coroutines]    a worker; SIGTERM stops it
    python bench.py --url URL --tasks N [--width W | --row R]                    the same, with a load of its own:
                                                                                 runs of W tasks that are ready at
                                                                                 once, or of R tasks in a row,
                                                                                 all of them started before it begins

Without `--url` and `--action` it goes by $EDGEWISE_ADDR and $EDGEWISE_ACTION, so that `edgewise bench server --worker`
can run it. The last line it prints is JSON: how many tasks, in how many seconds, with how much processor time, and how
busy the machine was meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

from edgewise import Client, Context, Worker, call, expr, flow


def work(arguments: argparse.Namespace) -> tuple[Worker, list[float]]:
    """A worker, and when each of its tasks was done."""
    queues = [arguments.queue] if arguments.queue else None
    worker = Worker(arguments.url, queues=queues, concurrency=arguments.concurrency)
    done: list[float] = []

    def plain(context: Context) -> None:
        done.append(time.monotonic())
        if len(done) == arguments.tasks:
            worker.stop()

    async def coroutine(context: Context) -> None:
        plain(context)

    worker.task(arguments.action)(coroutine if arguments.coroutines else plain)
    return worker, done


def load(arguments: argparse.Namespace) -> None:
    """Starts runs."""
    client = Client(arguments.url)
    bench = flow("bench", queue=arguments.queue)
    if arguments.row:
        for n in range(arguments.row):
            bench.task(f"t{n}", call(arguments.action), after=f"t{n - 1}" if n else None)
    else:
        bench.task("noop", call(arguments.action), each=expr(f"range({arguments.width})"))
    count = max(1, arguments.tasks // (arguments.row or arguments.width))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: client.start(bench), range(count)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--queue")
    parser.add_argument("--action", default=os.environ.get("EDGEWISE_ACTION", "noop"))
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--coroutines", action="store_true")
    parser.add_argument("--tasks", type=int, default=0)
    parser.add_argument("--row", type=int, default=0)
    parser.add_argument("--width", type=int, default=1_000)
    arguments = parser.parse_args()
    worker, done = work(arguments)
    if arguments.tasks:
        load(arguments)
    busy, spent = _busy(), time.process_time()
    worker.run()
    after = _busy()
    seconds = done[-1] - done[0] if len(done) > 1 else 0.0
    print(
        json.dumps(
            {
                "tasks": len(done),
                "seconds": round(seconds, 3),
                "per_second": round(len(done) / seconds) if seconds else None,
                "worker_cpu_seconds": round(time.process_time() - spent, 3),
                "machine_busy": round((after[0] - busy[0]) / max(1, after[1] - busy[1]), 2),
                "cores": os.cpu_count(),
            }
        )
    )


def _busy() -> tuple[int, int]:
    """Ticks of all processors that were spent on something, and all of them."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


if __name__ == "__main__":
    main()
