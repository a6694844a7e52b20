"""Heartbeats: leases in hand are kept, handlers of those that are over are told, what nobody begins is given back."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence

from .calls import post
from .client import Client
from .errors import EdgewiseError
from .hand import Hand, Held

log = logging.getLogger("edgewise")

#: Most leases of one heartbeat.
BATCH = 5_000
#: A lease that could not begin for so long is for somebody else.
IDLE_SECONDS = 2.0


class Heart:
    """A thread that keeps leases."""

    def __init__(self, client: Client, hand: Hand, lease: float) -> None:
        self._client = client
        self._hand = hand
        self._pause = min(lease / 3, 10.0)
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="edgewise-heart", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more heartbeats."""
        self._stopping = True
        self._hand.hurry.set()
        self._thread.join()

    def give_back(self, leases: Sequence[Held]) -> None:
        """Leases whose work never began: their attempts are not spent."""
        for at in range(0, len(leases), BATCH):
            try:
                self._client.ask(post("/work/release", {"leases": [held.lease for held in leases[at : at + BATCH]]}))
            except EdgewiseError as problem:
                log.warning("leases lapse that could not be given back: %s", problem)

    def _work(self) -> None:
        last, heard = time.monotonic(), True
        while not self._stopping:
            # A flow may have its tasks say more often that they are at work than the worker would.
            every = min(self._pause, self._hand.shortest / 3)
            # A heartbeat that found nobody is repeated soon: two more fit into the lease.
            tick = min(every, IDLE_SECONDS / 2)
            if self._hand.hurry.wait(tick):
                self._hand.hurry.clear()
                continue
            if time.monotonic() >= last + (every if heard else tick):
                last, heard = time.monotonic(), self._beat()
            idle = self._hand.idle(time.monotonic() - IDLE_SECONDS)
            if idle:
                self.give_back(idle)

    def _beat(self) -> bool:
        held = self._hand.all()
        for at in range(0, len(held), BATCH):
            leases = [one.lease for one in held[at : at + BATCH]]
            asked = post("/work/heartbeat", {"leases": leases})
            try:
                told = self._client.once(asked, self._client.plain_headers())
            except EdgewiseError as problem:
                log.warning("a heartbeat was not heard: %s", problem)
                return False
            for answer in told["beats"]:
                if not answer["continue"]:
                    self._over(answer["lease"])
        return True

    def _over(self, lease: str) -> None:
        held = self._hand.over(lease)
        if held is not None:
            log.info("attempt %s of %s is over", held.context.attempt, held.context.task)
            held.interrupt()
