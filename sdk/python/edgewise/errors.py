"""What can go wrong, as types. A type exists only where a caller would act differently.

::

    EdgewiseError
        Unreachable          nobody answered
        RunFailed            a run that was waited for ended another way than well
        Problem              the server refused; `code` is stable, `detail` says what to do next
            Invalid              400 and other requests that cannot succeed as they are
            Unauthorized         401
            Forbidden            403
            NotFound             404
            Conflict             409: the state forbids it
            TooLarge             413
            TooMany              429
            Unavailable          503: not now
            ServerError          other 5xx

    TaskFailure              what a handler raises to say how its attempt failed
        Retryable                another attempt may help
        Permanent                none can
    Cancelled                the attempt is not the worker's any more
"""

from __future__ import annotations

from typing import Any


class EdgewiseError(Exception):
    """Everything that the client raises by itself."""


class Unreachable(EdgewiseError):
    """Nobody answered."""

    def __init__(self, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        #: Whether the request may have arrived: then it is not known whether it took effect.
        self.sent = sent


class RunFailed(EdgewiseError):
    """A run ended another way than well."""

    def __init__(self, run: str, state: str) -> None:
        super().__init__(f"run {run} ended as {state}; `edgewise why {run}` tells more")
        self.run = run
        self.state = state


class Problem(EdgewiseError):
    """The server refused, in the form of RFC 9457."""

    def __init__(self, status: int, code: str, detail: str, title: str = "") -> None:
        super().__init__(f"{detail} ({code}, status {status})")
        self.status = status
        self.code = code
        self.detail = detail
        self.title = title

    @staticmethod
    def of(status: int, body: Any) -> Problem:
        """The problem of an answer; whatever stands between here and the server may answer with another form."""
        told = body if isinstance(body, dict) else {}
        kind = _BY_STATUS.get(status, ServerError if status >= 500 else Invalid)
        detail = str(told.get("detail") or f"the server answered with status {status}")
        return kind(status, str(told.get("code") or f"http_{status}"), detail, str(told.get("title") or ""))


class Invalid(Problem):
    """The request cannot succeed as it is."""


class Unauthorized(Problem):
    """The token is missing or not good."""


class Forbidden(Problem):
    """The token's owner is not trusted with this."""


class NotFound(Problem):
    """What is named does not exist."""


class Conflict(Problem):
    """The state forbids it."""


class TooLarge(Problem):
    """A limit would be crossed."""


class TooMany(Problem):
    """Too many requests at once."""


class Unavailable(Problem):
    """Not now."""


class ServerError(Problem):
    """The server broke a rule of its own."""


_BY_STATUS: dict[int, type[Problem]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: TooMany,
    503: Unavailable,
}


class TaskFailure(Exception):
    """How an attempt failed. `type` is what a flow's `retry` and handlers name; `also` are wider types it is too."""

    permanent = False

    def __init__(self, message: str = "", *, type: str | None = None, also: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.type = type
        self.also = also
        self.after: float | None = None


class Retryable(TaskFailure):
    """Another attempt may help, `after` so many seconds at the earliest."""

    def __init__(
        self,
        message: str = "",
        *,
        after: float | None = None,
        type: str | None = None,
        also: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, type=type, also=also)
        self.after = after


class Permanent(TaskFailure):
    """No further attempt can help."""

    permanent = True


class Cancelled(Exception):
    """The attempt is over for this worker: cancelled, timed out, or somebody else's. What it makes is dropped."""


def wire_failure(error: BaseException) -> dict[str, Any]:
    """A failure as it is reported. Its wider types are the classes that the exception inherits from."""
    told: dict[str, Any] = {"type": type(error).__name__, "message": _readable(str(error)[:MESSAGE_CHARACTERS])}
    wider = [kind.__name__ for kind in type(error).__mro__[1:] if kind not in _PLAIN]
    if isinstance(error, TaskFailure):
        wider = [*error.also, *wider]
        if error.type is not None:
            told["type"] = error.type
        if error.permanent:
            told["permanent"] = True
        if error.after is not None:
            told["retry_after_ms"] = max(0, round(error.after * 1000))
    if wider:
        told["is"] = wider
    return told


def _readable(text: str) -> str:
    """A text that every server reads: half of a pair of code units is no character."""
    return text.encode(errors="replace").decode()


#: Longer messages are cut: the ledger keeps them for ever.
MESSAGE_CHARACTERS = 2_000

_PLAIN = {BaseException, Exception, object, TaskFailure, Retryable, Permanent}
