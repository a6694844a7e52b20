"""The worker: claims tasks, performs their handlers, reports how they ended, until it is told to stop.

Four threads beside the handlers': one claims, one reports, one keeps leases alive, and the caller's waits for the end.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .beat import Heart
from .claim import Claimer, Room
from .client import Client
from .errors import EdgewiseError
from .hand import Hand, Held
from .perform import Handler, Loop, Threads
from .report import Reporter

log = logging.getLogger("edgewise")

H = TypeVar("H", bound=Callable[..., Any])


class Worker:
    """A worker. Register handlers with `task`, then `run` it.

    `concurrency` is how many handlers are at work at once; `ahead` how many leases at most it takes before they can
    begin (0 where an attempt must not be spent by a worker that dies before it began); `lease` how many seconds the
    server waits for a sign of life before it gives a task to somebody else; `grace` how long handlers may take when
    the worker is told to stop.
    """

    def __init__(
        self,
        client: Client | str | None = None,
        *,
        name: str | None = None,
        queues: Sequence[str] | None = None,
        concurrency: int = 16,
        ahead: int = 2_000,
        lease: float = 30.0,
        grace: float = 30.0,
    ) -> None:
        self._client = client if isinstance(client, Client) else Client(client)
        self._name = name or f"{socket.gethostname().split('.')[0]}-{os.getpid()}"
        self._queues = queues
        self._concurrency = concurrency
        self._ahead = ahead
        self._lease = lease
        self._grace = grace
        self._plain: dict[str, Handler] = {}
        self._coroutines: dict[str, Handler] = {}
        # Its `put` may be called from a signal handler, unlike anything with a lock.
        self._stops: queue.SimpleQueue[EdgewiseError | None] = queue.SimpleQueue()

    def task(self, action: str) -> Callable[[H], H]:
        """Registers the handler of an action: a function, or a coroutine function, of one `Context`."""

        def register(handler: H) -> H:
            if action in self._plain or action in self._coroutines:
                raise ValueError(f"the action {action!r} has a handler already")
            kind = self._coroutines if inspect.iscoroutinefunction(handler) else self._plain
            kind[action] = handler
            return handler

        return register

    def stop(self) -> None:
        """Tells a running worker to stop: no new tasks, what began is finished, what did not is given back."""
        self._stops.put(None)

    def run(self) -> None:
        """Works until it is stopped, by `stop`, SIGTERM or SIGINT. A refused claim is raised. A worker runs once."""
        before = self._listen()
        try:
            self._run(None)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def run_async(self) -> None:
        """Works until it is stopped; coroutines are performed on the caller's event loop."""
        loop = asyncio.get_running_loop()
        running = loop.run_in_executor(None, self._run, loop)
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            self.stop()
            await running
            raise

    def _listen(self) -> dict[signal.Signals, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}
        heard = (signal.SIGTERM, signal.SIGINT)
        return {number: signal.signal(number, lambda *_: self.stop()) for number in heard}

    def _run(self, loop: asyncio.AbstractEventLoop | None) -> None:
        if not self._plain and not self._coroutines:
            raise ValueError("the worker has no handlers: register some with @worker.task(\"action\")")
        hand = Hand()
        reporter = Reporter(self._client, hand)
        heart = Heart(self._client, hand, self._lease)
        performers: list[tuple[dict[str, Handler], Threads | Loop]] = []
        if self._plain:
            performers.append((self._plain, Threads(self._plain, hand, reporter.put, self._concurrency)))
        if self._coroutines:
            performers.append((self._coroutines, Loop(self._coroutines, hand, reporter.put, self._concurrency, loop)))

        def take(leases: list[Held]) -> None:
            for handlers, performer in performers:
                performer.offer(held for held in leases if held.context.action in handlers)

        room = Room(self._concurrency * len(performers), self._ahead)
        claimer = Claimer(self._client, hand, self._wish(), room, take, self._stops.put)
        problem = self._stops.get()
        claimer.stop()
        self._wind_up(hand, heart)
        reporter.close(self._grace)
        heart.stop()
        for _, performer in performers:
            performer.stop()
        if problem is not None:
            raise problem

    def _wish(self) -> dict[str, Any]:
        actions = sorted([*self._plain, *self._coroutines])
        lease = round(self._lease * 1000)
        return {"worker": self._name, "actions": actions, "queues": self._queues, "lease_ms": lease}

    def _wind_up(self, hand: Hand, heart: Heart) -> None:
        """Gives back what never began, and waits for what did, until grace is over or somebody is impatient."""
        heart.give_back(hand.idle(time.monotonic()))
        until = time.monotonic() + self._grace
        while time.monotonic() < until and self._stops.empty():
            if hand.wait_until(0, min(0.1, max(0.0, until - time.monotonic()))):
                return
        left = hand.all()
        log.warning("%s tasks are cut short: they will be tried again", len(left))
        for held in left:
            held.interrupt()
        hand.wait_until(0, 1.0)
