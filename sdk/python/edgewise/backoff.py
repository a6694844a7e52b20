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
        self._until = None if patience is None else time.monotonic() + patience
        self._pause = FIRST_SECONDS

    def next(self) -> float | None:
        """The next pause in seconds; none if patience is over."""
        if self._until is not None and time.monotonic() >= self._until:
            return None
        pause = self._pause * random.uniform(0.5, 1.0)
        self._pause = min(self._pause * 2, MOST_SECONDS)
        return pause

    def reset(self) -> None:
        """It worked: the next trouble is a new one."""
        self._pause = FIRST_SECONDS
        self._until = None if self._patience is None else time.monotonic() + self._patience
