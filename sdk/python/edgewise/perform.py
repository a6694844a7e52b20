"""Performing handlers: plain functions on threads, coroutines on one event loop. Both end as one text to report."""

from __future__ import annotations

import asyncio
import inspect
import logging
import queue
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from .calls import encode
from .errors import Cancelled, wire_failure
from .hand import Context, Hand, Held

log = logging.getLogger("edgewise")

Handler = Callable[[Context], Any] | Callable[[Context], Awaitable[Any]]
#: Takes what is to be reported of a lease.
Report = Callable[[Held, str], None]


#: Characters of an output that no server takes any more.
TOO_LARGE = 16 << 20


def succeeded(held: Held, output: Any) -> str:
    """The report of a handler that returned. What has no JSON form fails for good: it would be the same again.

    One that was told to stop and returns nothing has noticed it, and did not do its work.
    """
    if output is None and held.context.cancelled.is_set():
        return stopped(held)
    result = {"lease": held.lease} if output is None else {"lease": held.lease, "output": output}
    try:
        report = encode(result)
    except (TypeError, ValueError, RecursionError) as error:
        told = {"type": "bad_output", "message": f"the output has no JSON form: {error}", "permanent": True}
        return encode({"lease": held.lease, "error": told})
    if len(report) > TOO_LARGE:
        message = f"the output has {len(report)} characters: more than {TOO_LARGE} bytes are not kept"
        return encode({"lease": held.lease, "error": {"type": "output_too_large", "message": message}})
    return report


def stopped(held: Held) -> str:
    """The report of a handler that was told to stop: it did not fail, another attempt does its work."""
    told = {"type": "worker_stopped", "message": "the worker was told to stop before the task had ended"}
    return encode({"lease": held.lease, "error": told})


def failed(held: Held, error: BaseException) -> str:
    """The report of a handler that raised."""
    if isinstance(error, (Cancelled, asyncio.CancelledError)) and held.context.cancelled.is_set():
        return stopped(held)
    return encode({"lease": held.lease, "error": wire_failure(error)})


class Performer:
    """What threads and loop have in common: whose turn it is, and where reports go."""

    def __init__(self, handlers: dict[str, Handler], hand: Hand, report: Report) -> None:
        self._handlers = handlers
        self._hand = hand
        self._report = report

    def _end(self, held: Held, report: str) -> None:
        if self._hand.finish(held):
            self._report(held, report)
        else:
            context = held.context
            log.info("attempt %s of %s is over elsewhere: its result is dropped", context.attempt, context.task)


class Threads(Performer):
    """Plain functions, each on one of so many threads."""

    def __init__(self, handlers: dict[str, Handler], hand: Hand, report: Report, count: int) -> None:
        super().__init__(handlers, hand, report)
        self._queue: queue.SimpleQueue[Held | None] = queue.SimpleQueue()
        # They do not keep the process from ending: a handler that never ends is nobody's by then.
        self._threads = [
            threading.Thread(target=self._work, name=f"edgewise-task-{n}", daemon=True) for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def offer(self, leases: Iterable[Held]) -> None:
        """Leases to be worked on."""
        for held in leases:
            self._queue.put(held)

    def stop(self) -> None:
        """No more come."""
        for _ in self._threads:
            self._queue.put(None)

    def _work(self) -> None:
        get, begin = self._queue.get, self._hand.begin
        while (held := get()) is not None:
            if begin(held):
                self._end(held, self._perform(held))

    def _perform(self, held: Held) -> str:
        try:
            return succeeded(held, self._handlers[held.context.action](held.context))
        except BaseException as error:  # also SystemExit: a handler does not end the worker
            log.info("%s of run %s failed: %r", held.context.task, held.context.run, error)
            return failed(held, error)


class Loop(Performer):
    """Coroutines, so many at once, on an event loop: the caller's, or one of their own thread."""

    def __init__(
        self,
        handlers: dict[str, Handler],
        hand: Hand,
        report: Report,
        count: int,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        super().__init__(handlers, hand, report)
        self._count = count
        self._running: set[asyncio.Task[None]] = set()
        self._ready: deque[Held] = deque()
        self._own = loop is None
        self._loop = loop or asyncio.new_event_loop()
        if self._own:
            threading.Thread(target=self._turn, name="edgewise-loop", daemon=True).start()

    def offer(self, leases: Iterable[Held]) -> None:
        """Leases to be worked on."""
        self._loop.call_soon_threadsafe(self._offered, list(leases))

    def stop(self) -> None:
        """No more come."""
        if self._own:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _turn(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _offered(self, leases: list[Held]) -> None:
        self._ready.extend(leases)
        self._fill()

    def _fill(self) -> None:
        while self._ready and len(self._running) < self._count:
            held = self._ready.popleft()
            if not self._hand.begin(held):
                continue
            task = self._loop.create_task(self._perform(held))
            held.stop = partial(self._interrupt, task)
            if held.context.cancelled.is_set():
                task.cancel()
            self._running.add(task)
            task.add_done_callback(self._done)

    def _interrupt(self, task: asyncio.Task[None]) -> None:
        self._loop.call_soon_threadsafe(task.cancel)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._fill()

    async def _perform(self, held: Held) -> None:
        try:
            output = self._handlers[held.context.action](held.context)
            report = succeeded(held, await output if inspect.isawaitable(output) else output)
        except BaseException as error:
            log.info("%s of run %s failed: %r", held.context.task, held.context.run, error)
            report = failed(held, error)
        self._end(held, report)
