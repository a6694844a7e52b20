"""The leases a worker has in hand, from the claim to the report, and what a handler sees of one."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from .errors import Cancelled

#: No lease is kept up more often than one of so many seconds.
SHORTEST_SECONDS = 0.05


class Context:
    """One attempt of a task, as its handler sees it."""

    __slots__ = ("input", "action", "run", "task", "attempt", "max_attempts", "key", "traceparent", "cancelled")

    def __init__(self, told: dict[str, Any]) -> None:
        #: What the task is given.
        self.input: Any = told["input"]
        #: What is to be done.
        self.action: str = told["action"]
        #: The id of the run.
        self.run: str = told["run"]
        #: The path of the task.
        self.task: str = told["task"]
        #: Which attempt, from 1.
        self.attempt: int = told["attempt"]
        #: How many there may be.
        self.max_attempts: int = told["max_attempts"]
        #: The same for every attempt of the task: to be used where an effect must happen once.
        self.key: str = told["key"]
        #: What joins the handler's spans to those of whoever started the run (W3C Trace Context), if they said.
        self.traceparent: str | None = told.get("traceparent")
        #: Set when the attempt is not this worker's any more: stop, what it makes is dropped.
        self.cancelled = threading.Event()

    def check(self) -> None:
        """Raises `Cancelled` if the attempt is not this worker's any more."""
        if self.cancelled.is_set():
            raise Cancelled(f"attempt {self.attempt} of {self.task} of run {self.run} is over")


class Held:
    """A lease in hand."""

    __slots__ = ("lease", "span", "context", "since", "began", "over", "stop")

    def __init__(self, told: dict[str, Any], now: float) -> None:
        self.lease: str = told["lease"]
        #: For how many seconds it is good without a heartbeat.
        self.span: float = told.get("lease_ms", math.inf) / 1000
        self.context = Context(told)
        self.since = now
        self.began = False
        #: Whether the server said that it is not this worker's any more: then nobody wants its result.
        self.over = False
        #: How to interrupt its handler, where that is possible.
        self.stop: Callable[[], None] | None = None

    def interrupt(self) -> None:
        """Tells its handler to stop."""
        self.context.cancelled.set()
        if self.stop is not None:
            self.stop()


class Hand:
    """All leases in hand. `unfinished` are those whose handlers have not ended; the rest wait to be reported."""

    def __init__(self) -> None:
        self._leases: dict[str, Held] = {}
        self._unfinished = 0
        self._finished = 0
        self._changed = threading.Condition()
        #: Waiters are only woken when the number of unfinished leases falls to this.
        self._wake_at = -1
        #: For how many seconds the shortest lease there ever was is good without a heartbeat.
        self.shortest = math.inf
        #: Set when there was a shorter one.
        self.hurry = threading.Event()

    def take(self, told: Iterable[dict[str, Any]]) -> list[Held]:
        """Takes leases."""
        now = time.monotonic()
        held = [Held(lease, now) for lease in told]
        with self._changed:
            self._leases.update((one.lease, one) for one in held)
            self._unfinished += len(held)
            shortest = min((one.span for one in held), default=math.inf)
            if shortest < self.shortest:
                # Not again for every millisecond that another one took longer to come here.
                self.shortest = max(shortest * 0.9, SHORTEST_SECONDS)
                self.hurry.set()
        return held

    def begin(self, held: Held) -> bool:
        """Whether its work may begin; not if it was given back or cancelled meanwhile."""
        with self._changed:
            if held.began or held.lease not in self._leases:
                return False
            held.began = True
            return True

    def finish(self, held: Held) -> bool:
        """Its handler has ended. Whether anybody wants to know how."""
        with self._changed:
            self._finish()
            if held.over:
                self._leases.pop(held.lease, None)
            return not held.over

    def drop(self, leases: Iterable[Held]) -> None:
        """They have been reported, or are nobody's business any more."""
        with self._changed:
            for held in leases:
                self._leases.pop(held.lease, None)

    def idle(self, before: float) -> list[Held]:
        """Takes out those that were taken before this and have not begun, to be given back."""
        with self._changed:
            idle = [held for held in self._leases.values() if not held.began and held.since <= before]
            for held in idle:
                del self._leases[held.lease]
                self._finish()
            return idle

    def over(self, lease: str) -> Held | None:
        """The server says that a lease is over: its handler is to be told."""
        with self._changed:
            held = self._leases.get(lease)
            if held is None or held.over:
                return None
            held.over = True
            if not held.began:
                del self._leases[lease]
                self._finish()
            return held

    def all(self) -> list[Held]:
        """Everything in hand."""
        with self._changed:
            return list(self._leases.values())

    def wait_until(self, unfinished: int, timeout: float | None = None) -> bool:
        """Waits until so few are unfinished."""
        with self._changed:
            self._wake_at = unfinished
            return self._changed.wait_for(lambda: self._unfinished <= self._wake_at, timeout)

    def wake(self) -> None:
        """Lets whoever waits go on."""
        with self._changed:
            self._wake_at = self._unfinished
            self._changed.notify_all()

    def counts(self) -> tuple[int, int]:
        """How many are unfinished, and how many have finished ever."""
        with self._changed:
            return self._unfinished, self._finished

    def _finish(self) -> None:
        self._unfinished -= 1
        self._finished += 1
        if self._unfinished <= self._wake_at:
            self._changed.notify_all()
