"""A worker that is called: the server sends each lease as a signed request, and the answer is the report.

`verify` is for whoever has a web framework already: refuse what it raises on, do the task, answer with its result.
`PushWorker` does all of it, and `serve` is a small server for it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import inspect
import json
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from .calls import encode
from .errors import EdgewiseError
from .hand import Context, Held
from .perform import failed, succeeded

#: How old, or how far ahead, a signature may be, in seconds: an older one may be a replay.
TOLERANCE = 300.0
#: Largest request that is read.
BODY_BYTES = 32 << 20

PushHandler = Callable[[Context], Any]


class NotSigned(EdgewiseError):
    """A request is not from the server that knows the secret, or is an old one sent again."""


def verify(
    secret: str | Iterable[str], headers: Mapping[str, str], body: bytes, *, now: float | None = None
) -> str:
    """Checks a request as Standard Webhooks says, and gives its `webhook-id`, which names the dispatch.

    The same id again is the same request sent again. While a secret is changed, several may be given.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message, stamp, signatures = (given[f"webhook-{part}"] for part in ("id", "timestamp", "signature"))
        apart = abs((time.time() if now is None else now) - int(stamp))
    except (KeyError, ValueError):
        raise NotSigned("webhook-id, webhook-timestamp and webhook-signature are expected") from None
    if apart > TOLERANCE:
        raise NotSigned(f"the request was signed {apart:.0f} s ago, at most {TOLERANCE:.0f} s are accepted")
    text = f"{message}.{stamp}.".encode() + body
    expected = [_sign(one, text) for one in ([secret] if isinstance(secret, str) else secret)]
    found = [one.removeprefix("v1,").encode() for one in signatures.split(" ") if one.startswith("v1,")]
    # All of them, so that the time it takes does not tell which one fits.
    if not any([hmac.compare_digest(one, other) for one in expected for other in found]):
        raise NotSigned("no signature of the request fits the secret: check the secret of the push worker")
    return message


def _sign(secret: str, text: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ValueError("a secret is `whsec_` and base64, as `edgewise worker add` printed it") from None
    return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest())


class Asked(NamedTuple):
    """A lease, and who performs it."""

    held: Held
    handler: PushHandler


async def _awaited(made: Awaitable[Any]) -> Any:
    return await made


class PushWorker:
    """Handlers for tasks that the server brings. A request that was seen already is not performed again."""

    def __init__(self, secret: str | Iterable[str]) -> None:
        self._secrets = [secret] if isinstance(secret, str) else list(secret)
        self._handlers: dict[str, PushHandler] = {}
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()

    def task(self, action: str) -> Callable[[PushHandler], PushHandler]:
        """Names the function that performs an action."""

        def named(handler: PushHandler) -> PushHandler:
            self._handlers[action] = handler
            return handler

        return named

    def answer(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        """Does what a request asks for, and gives status and body of the answer.

        A handler that is a coroutine runs on a loop of its own. Within an event loop use `answer_async`.
        """
        asked = self._asked(headers, body)
        if not isinstance(asked, Asked):
            return asked
        held, handler = asked
        try:
            made = handler(held.context)
            return 200, succeeded(held, asyncio.run(_awaited(made)) if inspect.isawaitable(made) else made)
        except Exception as error:
            return 200, failed(held, error)

    async def answer_async(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        """The same for whoever has an event loop: coroutines run on it, other handlers on threads."""
        asked = self._asked(headers, body)
        if not isinstance(asked, Asked):
            return asked
        held, handler = asked
        try:
            # A thread for the call itself too: it may be all of the work.
            coroutine = inspect.iscoroutinefunction(handler)
            made = handler(held.context) if coroutine else await asyncio.to_thread(handler, held.context)
            return 200, succeeded(held, await made if inspect.isawaitable(made) else made)
        except Exception as error:
            return 200, failed(held, error)

    def _asked(self, headers: Mapping[str, str], body: bytes) -> Asked | tuple[int, str]:
        """What is to be done, or the answer if nothing is."""
        try:
            if self._is_replay(verify(self._secrets, headers, body)):
                return 409, encode({"detail": "this request was seen already"})
        except NotSigned as error:
            return 401, encode({"detail": str(error)})
        held = Held(json.loads(body), time.monotonic())
        handler = self._handlers.get(held.context.action)
        if handler is None:
            told = {"type": "unknown_action", "message": f"nobody here does {held.context.action}", "permanent": True}
            return 200, encode({"lease": held.lease, "error": told})
        return Asked(held, handler)

    def serve(self, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
        """A server that answers calls, each on a thread of its own, once `serve_forever` is called."""
        worker = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = self._length()
                if not 0 <= length <= BODY_BYTES:
                    # What was sent is not read: nothing else can come on this connection.
                    self.close_connection = True
                    return self.send_error(400 if length < 0 else 413)
                status, text = worker.answer(dict(self.headers.items()), self.rfile.read(length))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def _length(self) -> int:
                """How long the body is; less than nothing if that is not said in a few digits."""
                said = self.headers.get("content-length") or "0"
                return int(said) if re.fullmatch("[0-9]{1,18}", said) else -1

            def log_message(self, *_: Any) -> None:
                """Nothing: whoever wants lines wraps `answer`."""

        return ThreadingHTTPServer((host, port), Handler)

    def _is_replay(self, message: str) -> bool:
        """Whether a request came before; those whose signature is too old by now need not be remembered."""
        now = time.monotonic()
        with self._lock:
            for old in [known for known, at in self._seen.items() if now - at > 2 * TOLERANCE]:
                del self._seen[old]
            replay = message in self._seen
            self._seen.setdefault(message, now)
            return replay
