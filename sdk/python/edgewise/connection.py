"""Keep-alive connections to one server, shared by threads. A request that gets no answer is `Unreachable`."""

from __future__ import annotations

import http.client
import json
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from .calls import Call
from .errors import Unreachable

#: A connection that was silent for longer may be closed by the server at this very moment.
IDLE_SECONDS = 5.0
#: Idle connections that are kept.
IDLE_MOST = 64


class Address:
    """Where a server is."""

    def __init__(self, url: str, tls: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"expected the address of a server such as http://127.0.0.1:7420, found {url!r}")
        self.host = parts.hostname
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.prefix = parts.path.rstrip("/")
        self.tls = (tls or ssl.create_default_context()) if parts.scheme == "https" else None

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}{self.prefix}"

    def headers(self, token: str | None, who: str | None) -> dict[str, str]:
        """What every request says."""
        said = {"Accept": "application/json", "User-Agent": "edgewise-python"}
        if token is not None:
            said["Authorization"] = f"Bearer {token}"
        if who is not None:
            said["Edgewise-As"] = who
        return said

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """A new connection."""
        connection: http.client.HTTPConnection
        if self.tls is not None:
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self.tls)
        else:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            raise Unreachable(f"nobody answers at {self}: {error}") from error
        # Head and body are written one after the other; the second must not wait for the first one's receipt.
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


class Connections:
    """The connections to one address that wait for their next request."""

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.timeout = timeout
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()

    def ask(
        self,
        call: Call,
        headers: Mapping[str, str],
        opened: Callable[[http.client.HTTPConnection], None] | None = None,
    ) -> tuple[int, Any]:
        """Performs a call once: the status of the answer and what it says. `opened` is shown the connection first."""
        connection = self._take() or self.address.connect(self.timeout)
        if opened is not None:
            opened(connection)
        try:
            connection.sock.settimeout(self.timeout + call.wait)
            connection.request(call.method, self.address.prefix + call.path, call.body, dict(headers))
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unreachable(f"{self.address} gave no answer: {error!r}", sent=True) from error
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give(connection)
        return response.status, decoded(body)

    def close(self) -> None:
        """Closes what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def __del__(self) -> None:
        self.close()

    def _take(self) -> http.client.HTTPConnection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            if time.monotonic() - since < IDLE_SECONDS and not _has_news(connection.sock):
                return connection
            connection.close()

    def _give(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < IDLE_MOST:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()


def _has_news(sock: socket.socket) -> bool:
    """Whether something came on a connection that waits: its end, or what nobody asked for."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def decoded(body: bytes) -> Any:
    """What an answer says; text that is no JSON is itself."""
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
