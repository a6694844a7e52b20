"""Server-sent events, from the pieces in which they come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    #: What names its place in the stream, and what the stream goes on behind; a fast domain event has none.
    id: str | None
    #: What kind of event it is.
    name: str
    #: What it says, in the form of `edgewise events --json`.
    data: Any

    @property
    def seq(self) -> int:
        """Of an event of a run: its place in the run's stream, 1, 2, 3, without gaps."""
        return int(self.id or 0)


@dataclass(frozen=True)
class DomainEvent:
    """What the outside world is told."""

    #: Its place in the queue of its namespace, for `acknowledge`; a fast one is in no queue.
    place: int | None
    #: The CloudEvent: `id`, `type`, `subject`, `time`, `data` and the rest.
    event: dict[str, Any]

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.event["type"])


@dataclass
class Lines:
    """What was heard of the next event so far."""

    _rest: bytes = b""
    _id: str | None = None
    _name: str = ""
    _data: list[str] = field(default_factory=list)

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Takes a piece; gives the events that it completes."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            event = self._line(line.decode().rstrip("\r"))
            if event is not None:
                yield event

    def _line(self, line: str) -> Event | None:
        """The empty line after an event gives the event."""
        if line == "":
            event = self._event()
            self._id, self._name, self._data = None, "", []
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            # An empty one is none: a stream does not go on behind it.
            self._id = value or None
        elif name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None

    def _event(self) -> Event | None:
        if not self._data:
            return None
        return Event(self._id, self._name or "message", json.loads("\n".join(self._data)))
