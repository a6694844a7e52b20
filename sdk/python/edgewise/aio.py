"""The client for asyncio: the same calls over connections of its own, so that a hundred waits need no threads."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import calls
from .backoff import Backoff
from .calls import Call
from .client import POLL_SECONDS, SILENCE_SECONDS, Ended, address_of, ended, fresh_key
from .connection import IDLE_MOST, IDLE_SECONDS, Address, decoded
from .errors import EdgewiseError, Problem, TooMany, Unavailable, Unreachable
from .flow import Flow
from .stream import DomainEvent, Event, Lines

#: Longest head of an answer, and longest line of an event stream.
LINE_BYTES = 32 << 20


class _Connection:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.since = time.monotonic()

    def is_good(self) -> bool:
        """Whether another request can be tried on it."""
        return time.monotonic() - self.since < IDLE_SECONDS and not self.reader.at_eof()

    async def send(self, call: Call, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str]]:
        """Sends a request; the status and the headers of the answer."""
        body = call.body or b""
        lines = [f"{call.method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "\r\n"])
        self.writer.write(head.encode("latin-1") + body)
        await self.writer.drain()
        told = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = (line.split(":", 1) for line in told[1:] if ":" in line)
        return int(told[0].split(" ", 2)[1]), {name.strip().lower(): value.strip() for name, value in fields}

    async def chunks(self, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
        """The body of an answer, as it comes."""
        if "chunked" not in headers.get("transfer-encoding", ""):
            yield await self.reader.readexactly(int(headers.get("content-length", "0")))
            return
        while True:
            size = int((await self.reader.readline()).split(b";")[0], 16)
            chunk = (await self.reader.readexactly(size + 2))[:-2]
            if not chunk:
                return
            yield chunk


class AsyncClient:
    """A server, as a caller within an event loop sees it. The methods are those of `Client`."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        who: str | None = None,
        timeout: float = 30.0,
        patience: float = 10.0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._address = Address(address_of(url), tls)
        self._timeout = timeout
        self._patience = patience
        host = f"{self._address.host}:{self._address.port}"
        self._headers = {"Host": host, **self._address.headers(token or os.environ.get("EDGEWISE_TOKEN"), who)}
        self._idle: list[_Connection] = []

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are idle."""
        for connection in self._idle:
            connection.writer.close()
        self._idle = []

    async def ask(self, asked: Call) -> Any:
        """Performs a call; for what has no method of its own."""
        headers = self._headers
        if asked.method == "POST":
            headers = {**headers, "Content-Type": "application/json", "Idempotency-Key": fresh_key()}
        backoff = Backoff(self._patience)
        while True:
            try:
                return await self._once(asked, headers)
            except (Unavailable, TooMany) as problem:
                trouble: EdgewiseError = problem
            except Unreachable as problem:
                if problem.sent and not asked.again:
                    raise
                trouble = problem
            pause = backoff.next()
            if pause is None:
                raise trouble
            await asyncio.sleep(pause)

    async def _once(self, asked: Call, headers: Mapping[str, str]) -> Any:
        connection = await self._take()
        try:
            answer = self._answer(connection, asked, headers)
            status, told, keep = await asyncio.wait_for(answer, self._timeout + asked.wait)
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, asyncio.TimeoutError) as error:
            connection.writer.close()
            raise Unreachable(f"{self._address} gave no answer: {error!r}", sent=True) from error
        except BaseException:
            connection.writer.close()
            raise
        if keep and len(self._idle) < IDLE_MOST:
            connection.since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.writer.close()
        if status >= 400:
            raise Problem.of(status, told)
        return told

    async def _answer(self, connection: _Connection, asked: Call, headers: Mapping[str, str]) -> tuple[int, Any, bool]:
        status, said = await connection.send(asked, self._address.prefix + asked.path, headers)
        body = b"".join([chunk async for chunk in connection.chunks(said)])
        return status, decoded(body), said.get("connection", "").lower() != "close"

    async def _take(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_good():
                return connection
            connection.writer.close()
        return await self._connect()

    async def _connect(self) -> _Connection:
        address = self._address
        opening = asyncio.open_connection(address.host, address.port, ssl=address.tls, limit=LINE_BYTES)
        try:
            return _Connection(*await asyncio.wait_for(opening, self._timeout))
        except (OSError, asyncio.TimeoutError) as error:
            raise Unreachable(f"nobody answers at {address}: {error}") from error

    async def start(
        self,
        flow: Flow | str,
        input: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
        file: str | None = None,
    ) -> AsyncRun:
        """Starts a run."""
        told = await self.ask(calls.start(flow, input, key, labels, file))
        return AsyncRun(self, told["run"], told["new"])

    def run(self, id: str) -> AsyncRun:
        """A run by its id."""
        return AsyncRun(self, id, False)

    async def wait(self, run: str, timeout: float | None = None) -> Ended:
        """Waits until a run has ended; `TimeoutError` if it has not by then."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = POLL_SECONDS if until is None else min(POLL_SECONDS, max(0.0, until - time.monotonic()))
            end = ended(await self.ask(calls.end(run, left)))
            if end is not None:
                return end
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"run {run} has not ended within {timeout} s")

    async def show(self, run: str) -> Any:
        """A run with all its tasks."""
        return await self.ask(calls.show(run))

    async def why(self, run: str) -> Any:
        """Why a run does not go on."""
        return await self.ask(calls.why(run))

    async def runs(
        self, search: str | None = None, *, all: bool = False, page: int | None = None
    ) -> AsyncIterator[Any]:
        """Runs, the newest first, page after page."""
        after: str | None = None
        while True:
            told = await self.ask(calls.runs(search, all, after, page))
            for run in told["runs"]:
                yield run
            after = told.get("next")
            if after is None:
                return

    async def flows(self) -> list[Any]:
        """The flows that are registered."""
        all: list[Any] = []
        after: str | None = None
        while True:
            told = await self.ask(calls.flows(after))
            all += told["flows"]
            after = told.get("next")
            if after is None:
                return all

    async def register(self, flow: Flow | str, *, file: str | None = None) -> list[Any]:
        """Puts the flows of a text under their names, with their schedules; what each of them came to."""
        told: list[Any] = (await self.ask(calls.register(flow, file)))["flows"]
        return told

    async def namespaces(self) -> list[Any]:
        """The queues of domain events, and who reads them."""
        told: list[Any] = (await self.ask(calls.namespaces()))["namespaces"]
        return told

    async def domain(
        self, namespace: str, *, consumer: str | None = None, after: int | None = None, page: int | None = None
    ) -> AsyncIterator[DomainEvent]:
        """The events in a queue, in order: those that a consumer has not acknowledged, or those behind a place."""
        while True:
            told = await self.ask(calls.domain(namespace, after, consumer, page))
            for one in told["events"]:
                yield DomainEvent(one["place"], one["event"])
            # A page behind the first goes on by its place: what was read is not acknowledged.
            after, consumer = told.get("next"), None
            if after is None:
                return

    async def acknowledge(self, namespace: str, consumer: str, place: int) -> int:
        """A consumer has dealt with everything up to a place. Where it is then."""
        return int((await self.ask(calls.acknowledge(namespace, consumer, place)))["place"])

    async def forget(self, namespace: str, consumer: str) -> None:
        """A consumer is gone: nothing is kept for it any more."""
        await self.ask(calls.forget(namespace, consumer))

    async def domain_events(self, namespace: str, *, after: int | None = None) -> AsyncIterator[DomainEvent]:
        """Domain events as they happen, without an end; behind a place, else from now on. Fast ones have no place."""
        last = None if after is None else str(after)
        async for event in self._follow(calls.domain_events(namespace), last):
            yield DomainEvent(None if event.id is None else int(event.id), event.data)

    async def workspace_events(
        self, *, after: str | None = None, types: Iterable[str] | None = None, run: str | None = None
    ) -> AsyncIterator[Event]:
        """The events of the whole workspace, without an end; behind one by its `id`, else from now on, `0` is the first."""
        async for event in self._follow(calls.workspace_events(types, run), after):
            yield event

    async def _follow(self, path: str, last: str | None) -> AsyncIterator[Event]:
        """A stream that has no end. Cut off, it goes on behind the last event that had an id."""
        backoff = Backoff(self._patience)
        while True:
            trouble: EdgewiseError = Unreachable(f"{self._address} ended a stream that has no end", sent=True)
            try:
                async for event in self._stream(path, last, backoff):
                    last = last if event.id is None else event.id
                    yield event
            except (Unreachable, Unavailable, TooMany) as problem:
                trouble = problem
            pause = backoff.next()
            if pause is None:
                raise trouble
            await asyncio.sleep(pause)

    async def events(self, run: str, *, after: int = 0) -> AsyncIterator[Event]:
        """The events of a run as they are committed, until it ends."""
        backoff = Backoff(self._patience)
        over = False
        while True:
            try:
                news = False
                async for event in self._stream(calls.events(run), str(after), backoff):
                    after, news = event.seq, True
                    yield event
                if over and not news:
                    return
                # A stream also ends when its server does: the rest of a run that has ended comes with the next one.
                over = ended(await self.ask(calls.end(run, 0.0))) is not None
                if over:
                    continue
                trouble: EdgewiseError = Unreachable(f"the events of run {run} ended before it did", sent=True)
            except (Unreachable, Unavailable, TooMany) as problem:
                trouble = problem
            pause = backoff.next()
            if pause is None:
                raise trouble
            await asyncio.sleep(pause)

    async def _stream(self, path: str, last: str | None, backoff: Backoff) -> AsyncIterator[Event]:
        connection = await self._connect()
        headers = {**self._headers, "Accept": "text/event-stream"}
        if last:
            headers["Last-Event-ID"] = last
        path = self._address.prefix + path
        lines = Lines()
        try:
            status, said = await connection.send(Call("GET", path), path, headers)
            chunks = connection.chunks(said)
            if status >= 400:
                raise Problem.of(status, decoded(b"".join([chunk async for chunk in chunks])))
            backoff.answered()
            while True:
                chunk = await asyncio.wait_for(anext(chunks), SILENCE_SECONDS)
                backoff.reset()
                for event in lines.feed(chunk):
                    yield event
        except StopAsyncIteration:
            return
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            raise Unreachable(f"{self._address} broke off: {error!r}", sent=True) from error
        finally:
            connection.writer.close()

    async def act(self, verb: str, run: str, task: str | None = None, *, why: str | None = None) -> bool:
        """Acts on a run or a task: cancel, pause, resume, reset, skip, resolve, give-up, freeze, unfreeze."""
        return not (await self.ask(calls.act(verb, run, task, why)))["already"]

    async def cancel(self, run: str, task: str | None = None, *, why: str | None = None) -> bool:
        """Nothing of the run, or of one task, may start any more."""
        return await self.act("cancel", run, task, why=why)

    async def pause(self, run: str, *, why: str | None = None) -> bool:
        """No new leases for now."""
        return await self.act("pause", run, why=why)

    async def resume(self, run: str, *, why: str | None = None) -> bool:
        """Leases again."""
        return await self.act("resume", run, why=why)

    async def rerun(self, run: str, task: str | None = None, *, failed: bool = False, why: str | None = None) -> int:
        """Has finished work done again. How many tasks were opened."""
        return int((await self.ask(calls.rerun(run, task, failed, why))).get("reopened") or 0)

    async def supply(self, run: str, task: str, output: Any, *, why: str | None = None) -> None:
        """Supplies a task's output in place of its own."""
        await self.ask(calls.supply(run, task, output, why))

    async def approve(self, run: str, gate: str, *, comment: str | None = None) -> bool:
        """Says yes to a gate."""
        return not (await self.ask(calls.speak("approve", run, gate, comment)))["already"]

    async def reject(self, run: str, gate: str, *, comment: str | None = None) -> bool:
        """Says no to a gate."""
        return not (await self.ask(calls.speak("reject", run, gate, comment)))["already"]

    async def withdraw(self, run: str, gate: str, *, comment: str | None = None) -> bool:
        """Takes a yes back."""
        return not (await self.ask(calls.speak("withdraw", run, gate, comment)))["already"]

    async def satisfy(self, run: str, gate: str, output: Any = None, *, comment: str | None = None) -> bool:
        """What a webhook or external gate waits for is so; `output` becomes the gate's."""
        return not (await self.ask(calls.satisfy(run, gate, output, comment)))["already"]


@dataclass(frozen=True)
class AsyncRun:
    """One run, with the client that knows where it is."""

    client: AsyncClient
    id: str
    #: False if the same key had started it before.
    new: bool

    async def wait(self, timeout: float | None = None) -> Ended:
        """Waits until it has ended."""
        return await self.client.wait(self.id, timeout)

    async def result(self, timeout: float | None = None) -> Any:
        """Waits for what it makes; `RunFailed` if it does not go well."""
        return (await self.wait(timeout)).result()

    def events(self, *, after: int = 0) -> AsyncIterator[Event]:
        """Its events as they are committed."""
        return self.client.events(self.id, after=after)

    async def cancel(self, task: str | None = None, *, why: str | None = None) -> bool:
        """Nothing of it, or of one task, may start any more."""
        return await self.client.cancel(self.id, task, why=why)
