"""A server that answers as a test has written it down, and a clock that moves when the test says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Clock:
    """In place of the module `time`."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now

    def move(self, seconds: float) -> Callable[[], object]:
        """Lets time pass, when it is called."""

        def passes() -> None:
            self.now += seconds

        return passes


def nothing() -> None:
    """What happens before an answer ends, unless it is said otherwise."""


@dataclass
class Answer:
    """One answer, of a call or of a stream that is cut off at last."""

    said: Any
    status: int = 200
    #: What happens before the stream ends.
    then: Callable[[], object] = nothing
    #: Whether the stream ends as one that is over does.
    clean: bool = False

    def give(self, handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.send_response(self.status)
        if not isinstance(self.said, str):
            self.then()
            body = json.dumps(self.said).encode()
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        if self.said:
            handler.wfile.write(f"{len(self.said):x}\r\n{self.said}\r\n".encode())
        handler.wfile.flush()
        self.then()
        if self.clean:
            handler.wfile.write(b"0\r\n\r\n")


class Script:
    """A server that gives these answers, one after another."""

    def __init__(self, *answers: Answer) -> None:
        left = list(answers)
        #: What was asked, and the `Last-Event-ID` of it.
        self.asked: list[tuple[str, str | None]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                asked.append((self.path, self.headers.get("Last-Event-ID")))
                left.pop(0).give(self)

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def last_ids(self) -> list[str | None]:
        return [last for _, last in self.asked]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
