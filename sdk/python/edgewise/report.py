"""Reporting: what has ended goes to the server in batches, again until it answers. Nothing waits for a full batch."""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from typing import Any

from .backoff import Backoff
from .calls import API, Call, encode
from .client import Client
from .errors import Forbidden, Problem, TooMany, Unauthorized, Unavailable, Unreachable
from .hand import Hand, Held

log = logging.getLogger("edgewise")

#: Most results of one report, and how many characters they have together.
BATCH = 2_000
BATCH_CHARACTERS = 4 << 20

#: The type of a failure in place of one that the server could not read.
UNREADABLE = "bad_failure"

Result = tuple[Held, str]


class Reporter:
    """A thread that reports."""

    def __init__(self, client: Client, hand: Hand) -> None:
        self._client = client
        self._hand = hand
        self._results: deque[Result] = deque()
        self._news = threading.Condition()
        self._closing = False
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._work, name="edgewise-report", daemon=True)
        self._thread.start()

    def put(self, held: Held, report: str) -> None:
        """Takes a result."""
        with self._news:
            self._results.append((held, report))
            if len(self._results) == 1:
                self._news.notify()

    def close(self, patience: float) -> bool:
        """Reports what is left. False if the server could not be told in time: the leases will lapse."""
        with self._news:
            self._closing = True
            self._news.notify()
        self._thread.join(patience)
        self._hurry.set()
        return not self._thread.is_alive()

    def _work(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._results or self._closing)
                batch = self._batch()
            if not batch:
                return
            self._send(batch)
            self._hand.drop(held for held, _ in batch)

    def _batch(self) -> list[Result]:
        batch: list[Result] = []
        characters = 0
        while self._results and len(batch) < BATCH and characters < BATCH_CHARACTERS:
            batch.append(self._results.popleft())
            characters += len(batch[-1][1])
        return batch

    def _send(self, batch: list[Result]) -> None:
        """Sends until there is an answer. The same report again is answered as the first time."""
        backoff = Backoff()
        body = '{"results":[' + ",".join(report for _, report in batch) + "]}"
        asked = Call("POST", f"{API}/work/complete", body.encode(errors="surrogatepass"))
        while not self._hurry.is_set():
            try:
                self._heard(self._client.once(asked, self._client.plain_headers()))
                return
            except (Unauthorized, Forbidden) as problem:
                log.error("results are dropped: %s", problem)
                return
            except (Unreachable, Unavailable, TooMany) as problem:
                log.warning("a report is repeated: %s", problem)
                self._hurry.wait(backoff.next())
            except Problem as problem:
                if problem.status >= 500:
                    self._hurry.wait(backoff.next())
                else:
                    return self._refused(batch, problem)

    def _heard(self, told: Any) -> None:
        for result in told["results"]:
            if result["status"] == 200:
                continue
            if result["status"] == 409:
                log.info("a result came too late and is dropped: %s", result.get("detail"))
            else:
                log.error("a result was refused: %s", result.get("detail"))

    def _refused(self, batch: list[Result], problem: Problem) -> None:
        """One of them cannot be read: each is sent alone, and the one at fault becomes a failure that says so."""
        if len(batch) > 1:
            for result in batch:
                self._send([result])
            return
        held, report = batch[0]
        error = json.loads(report).get("error")
        if error is not None and error.get("type") == UNREADABLE:
            log.error("a report was refused: %s", problem)
            return
        kind = {"type": "bad_output", "permanent": True} if error is None else {"type": UNREADABLE}
        log.warning("a report was refused, and is sent as a failure that says so: %s", problem)
        self._send([(held, encode({"lease": held.lease, "error": {**kind, "message": problem.detail}}))])
