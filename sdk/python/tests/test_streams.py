"""Streams that are cut off: they go on where they were, however quiet it was before, as long as somebody is there."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections.abc import AsyncIterator, Iterator
from typing import Any
from unittest.mock import patch

import edgewise
from edgewise import AsyncClient, Client

from .script import Answer, Clock, Script

PATIENCE = 10.0
QUIET = 60.0
NOT_NOW = {"code": "draining", "detail": "not now"}


def event(id: str | None, n: int) -> str:
    """One event of a stream."""
    place = "" if id is None else f"id: {id}\n"
    return f'{place}event: e\ndata: {{"type": "e", "n": {n}}}\n\n'


class Awaited:
    """An asynchronous stream, for whoever has no loop."""

    def __init__(self, client: AsyncClient, stream: AsyncIterator[Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = client
        self._stream = stream

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._loop.run_until_complete(anext(self._stream))
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        self._loop.run_until_complete(self._stream.aclose())  # type: ignore[attr-defined]
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._client.close()
        # Connections close in the loop's next turn.
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class Quiet(unittest.TestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        clock = patch("edgewise.backoff.time", self.clock)
        clock.start()
        self.addCleanup(clock.stop)

    def script(self, *answers: Answer) -> Script:
        script = Script(*answers)
        self.addCleanup(script.close)
        return script

    def stream(self, kind: str, url: str, name: str, *words: Any, **how: Any) -> Any:
        """A stream of a client of this kind."""
        if kind == "async":
            client = AsyncClient(url, patience=PATIENCE)
            stream = Awaited(client, getattr(client, name)(*words, **how))
            self.addCleanup(stream.close)
            return stream
        plain = Client(url, patience=PATIENCE)
        self.addCleanup(plain.close)
        return getattr(plain, name)(*words, **how)

    def each(self) -> Iterator[str]:
        for kind in ("sync", "async"):
            with self.subTest(kind):
                yield kind

    def test_a_stream_that_was_quiet_for_longer_than_patience_goes_on(self) -> None:
        for kind in self.each():
            for clean in (False, True):
                cut = threading.Event()
                first = Answer(event("7", 1), then=cut.wait, clean=clean)
                script = self.script(first, Answer(event("8", 2)))
                stream = self.stream(kind, script.url, "domain_events", "q", after=0)
                self.assertEqual(next(stream).place, 7)
                self.clock.now += QUIET
                cut.set()
                self.assertEqual(next(stream).place, 8)
                self.assertEqual(script.last_ids, ["0", "7"])

    def test_patience_begins_with_the_first_trouble_and_anew_when_somebody_is_there_again(self) -> None:
        pass_by = self.clock.move
        for kind in self.each():
            script = self.script(
                Answer(event("7", 1), then=pass_by(QUIET)),
                Answer(NOT_NOW, status=503, then=pass_by(PATIENCE - 1)),
                # Nothing comes but a sign of life, and the next time not even that.
                Answer(": still here\n\n", then=pass_by(QUIET)),
                Answer("", then=pass_by(QUIET)),
                Answer(NOT_NOW, status=503, then=pass_by(PATIENCE - 1)),
                Answer(event("8", 2), then=pass_by(QUIET)),
                Answer(NOT_NOW, status=503),
                Answer(NOT_NOW, status=503, then=pass_by(PATIENCE + 1)),
            )
            stream = self.stream(kind, script.url, "workspace_events", after="7")
            self.assertEqual([next(stream).id, next(stream).id], ["7", "8"])
            with self.assertRaises(edgewise.Unavailable):
                next(stream)
            self.assertEqual(len(script.asked), 8)

    def test_an_event_without_an_id_is_no_place_to_go_on_behind(self) -> None:
        for kind in self.each():
            for id in (None, ""):
                for after, ids in ((None, [None, None, "9"]), (5, ["5", "5", "9"])):
                    script = self.script(Answer(event(id, 1)), Answer(event("9", 2) + event(id, 3)), Answer(event("10", 4)))
                    stream = self.stream(kind, script.url, "domain_events", "q", after=after)
                    self.assertEqual([next(stream).place for _ in range(4)], [None, 9, None, 10])
                    self.assertEqual(script.last_ids, ids)

    def test_a_stream_that_ends_because_its_token_was_revoked_says_so(self) -> None:
        revoked = {"code": "bad_token", "detail": "the token is not good"}
        for kind in self.each():
            for name, words in (("domain_events", ("q",)), ("events", ("r1",))):
                ends = Answer(event("1", 1), then=self.clock.move(QUIET), clean=True)
                script = self.script(ends, Answer(revoked, status=401))
                stream = self.stream(kind, script.url, name, *words)
                next(stream)
                with self.assertRaises(edgewise.Unauthorized):
                    next(stream)

    def test_the_events_of_a_run_go_on_until_it_has_ended(self) -> None:
        for kind in self.each():
            script = self.script(
                Answer(event("1", 1), then=self.clock.move(QUIET)),
                Answer(event("2", 2), then=self.clock.move(QUIET), clean=True),
                Answer({"run": "r1", "state": None}),
                Answer(event("3", 3), clean=True),
                Answer({"run": "r1", "state": "Complete"}),
                Answer("", clean=True),
            )
            stream = self.stream(kind, script.url, "events", "r1")
            self.assertEqual([one.seq for one in stream], [1, 2, 3])
            self.assertEqual(script.last_ids, ["0", "1", None, "2", None, "3"])


if __name__ == "__main__":
    unittest.main()
