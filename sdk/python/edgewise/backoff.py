"""How long to wait before asking again: longer each time, by chance, and not for ever if somebody waits."""

from __future__ import annotations

import random
import time

FIRST_SECONDS = 0.05
MOST_SECONDS = 2.0


class Backoff:
    """The pauses of one request, or of one loop that goes on until it is stopped (`patience=None`)."""

    def __init__(self, patience: float | None = None) -> None:
        self._patience = patience
        #: When patience is over; none while all is well: it begins with the first trouble, however long all was well.
        self._until: float | None = None
        self._pause = FIRST_SECONDS

    def next(self) -> float | None:
        """The next pause in seconds; none if patience is over."""
        if self._patience is not None:
            now = time.monotonic()
            self._until = now + self._patience if self._until is None else self._until
            if now >= self._until:
                return None
        pause = self._pause * random.uniform(0.5, 1.0)
        self._pause = min(self._pause * 2, MOST_SECONDS)
        return pause

    def answered(self) -> None:
        """Somebody is there: the next trouble is a new one. Until something comes of it, pauses grow on."""
        self._until = None

    def reset(self) -> None:
        """It worked."""
        self._until = None
        self._pause = FIRST_SECONDS
