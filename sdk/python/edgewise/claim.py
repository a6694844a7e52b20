"""Claiming: as many leases as there is room for, in one request, before the hands are empty.

A worker holds what it can begin at once, and as much again as it did in the last tenth of a second: quick tasks come
in large batches, slow ones are left to others.
"""

from __future__ import annotations

import http.client
import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .backoff import Backoff
from .calls import Call, post
from .client import POLL_SECONDS, Client
from .errors import Conflict, EdgewiseError, ServerError, TooMany, Unavailable, Unreachable
from .hand import Hand, Held

log = logging.getLogger("edgewise")

#: How far ahead a worker takes leases, in seconds of its work.
AHEAD_SECONDS = 0.1


@dataclass(frozen=True)
class Room:
    """How many leases a worker takes: as many as can begin at once, and so many ahead at most."""

    at_once: int
    ahead: int


class Claimer:
    """A thread that claims."""

    def __init__(
        self,
        client: Client,
        hand: Hand,
        wish: dict[str, Any],
        room: Room,
        take: Callable[[list[Held]], None],
        broken: Callable[[EdgewiseError], None],
    ) -> None:
        self._client = client
        self._hand = hand
        self._wish = wish
        self._most = room.at_once
        self._ahead_most = room.ahead
        self._ahead = 0
        self._take = take
        self._broken = broken
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._thread = threading.Thread(target=self._work, name="edgewise-claim", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Takes no more leases; none is lost on the way."""
        self._stopping.set()
        self._hand.wake()
        with self._lock:
            if self._connection is not None:
                _hang_up(self._connection)
        self._thread.join()

    def _work(self) -> None:
        while not self._stopping.is_set():
            room = self._room()
            if self._stopping.is_set():
                return
            try:
                told = self._claim(room)
            except EdgewiseError as problem:
                self._broken(problem)
                return
            held = self._hand.take(told)
            if held:
                self._take(held)

    def _room(self) -> int:
        """Waits until there is room, and says for how many."""
        began, (_, before) = time.monotonic(), self._hand.counts()
        self._hand.wait_until(self._most - 1 if self._ahead == 0 else self._most + self._ahead // 2)
        unfinished, finished = self._hand.counts()
        rate = (finished - before) / max(time.monotonic() - began, 0.001)
        # Halved at most: a moment without work is no reason to begin from nothing.
        self._ahead = min(self._ahead_most, max(int(rate * AHEAD_SECONDS), self._ahead // 2))
        return max(1, self._most + self._ahead - unfinished)

    def _claim(self, room: int) -> list[dict[str, Any]]:
        """Claims until there is an answer. The same key makes a repetition the same claim."""
        wish = {**self._wish, "max": room, "wait_ms": round(POLL_SECONDS * 1000)}
        asked = post("/work/claim", wish, wait=POLL_SECONDS)
        headers = self._client.headers(asked)
        backoff = Backoff()
        while not self._stopping.is_set():
            try:
                return _leases(self._ask(asked, headers))
            except (Unreachable, Unavailable, TooMany, ServerError) as problem:
                if self._stopping.is_set():
                    return self._last_look(asked, headers)
                log.warning("a claim is repeated: %s", problem)
                self._stopping.wait(backoff.next())
        return []

    def _last_look(self, asked: Call, headers: dict[str, str]) -> list[dict[str, Any]]:
        """What the claim that was broken off had been given, so that it can be given back.

        A claim under the same key that does not wait is refused only if the first one was answered: then that answer
        is asked for again. If it was not, the server keeps what it would have given.
        """
        now = post("/work/claim", {**self._wish, "max": 1, "wait_ms": 0})
        try:
            try:
                return _leases(self._client.ask(now, headers))
            except Conflict:
                return _leases(self._client.ask(asked, headers))
        except EdgewiseError as problem:
            log.warning("a claim that was broken off may have leases that lapse: %s", problem)
            return []

    def _ask(self, asked: Call, headers: dict[str, str]) -> Any:
        try:
            return self._client.once(asked, headers, opened=self._opened)
        finally:
            self._opened(None)

    def _opened(self, connection: http.client.HTTPConnection | None) -> None:
        with self._lock:
            self._connection = connection
            if connection is not None and self._stopping.is_set():
                _hang_up(connection)


def _leases(told: Any) -> list[dict[str, Any]]:
    leases: list[dict[str, Any]] = told["leases"]
    return leases


def _hang_up(connection: http.client.HTTPConnection) -> None:
    """Breaks a request off; the thread that waits for its answer hears of it."""
    try:
        connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        # It is broken already.
        pass
