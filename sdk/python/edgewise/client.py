"""The client: starts runs, looks at them, waits for them, acts on them. Threads may share one."""

from __future__ import annotations

import os
import ssl
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from . import calls
from .backoff import Backoff
from .calls import Call
from .connection import Address, Connections, decoded
from .errors import EdgewiseError, Problem, RunFailed, TooMany, Unavailable, Unreachable
from .flow import Flow
from .stream import DomainEvent, Event, Lines

DEFAULT_ADDRESS = "http://127.0.0.1:7420"
#: One long poll: shorter than what anything between here and the server cuts off.
POLL_SECONDS = 20.0
#: A silent event stream says every 15 seconds that it is still there.
SILENCE_SECONDS = 45.0


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    run: str
    #: `Complete` if it went well.
    state: str
    #: What it made, if it went well.
    output: Any

    @property
    def ok(self) -> bool:
        """Whether it went well."""
        return self.state == "Complete"

    def result(self) -> Any:
        """What it made; `RunFailed` if it did not go well."""
        if not self.ok:
            raise RunFailed(self.run, self.state)
        return self.output


def ended(told: Any) -> Ended | None:
    """The end of a run in an answer; none while it goes on."""
    state = told.get("state")
    return None if state is None else Ended(told["run"], state, told.get("output"))


def address_of(url: str | None) -> str:
    """The address that is given, else `EDGEWISE_ADDR`, else this machine."""
    return url or os.environ.get("EDGEWISE_ADDR") or DEFAULT_ADDRESS


def fresh_key() -> str:
    """An `Idempotency-Key` for a request that may have to be repeated."""
    return uuid.uuid4().hex


class Client:
    """A server, as a caller sees it.

    What cannot be answered now is asked again, as far as a repetition can do no harm, until trouble has lasted for
    `patience` seconds.
    """

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
        self._connections = Connections(self._address, timeout)
        self._headers = self._address.headers(token or os.environ.get("EDGEWISE_TOKEN"), who)
        self._patience = patience

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are idle."""
        self._connections.close()

    def ask(self, asked: Call, headers: Mapping[str, str] | None = None) -> Any:
        """Performs a call; for what has no method of its own."""
        headers = headers or self.headers(asked)
        backoff = Backoff(self._patience)
        while True:
            try:
                return self.once(asked, headers)
            except (Unavailable, TooMany) as problem:
                trouble: EdgewiseError = problem
            except Unreachable as problem:
                if problem.sent and not asked.again:
                    raise
                trouble = problem
            pause = backoff.next()
            if pause is None:
                raise trouble
            time.sleep(pause)

    def once(self, asked: Call, headers: Mapping[str, str], **how: Any) -> Any:
        """Performs a call once."""
        status, told = self._connections.ask(asked, headers, **how)
        if status >= 400:
            raise Problem.of(status, told)
        return told

    def headers(self, asked: Call) -> dict[str, str]:
        """The headers of a call; a repetition has the same."""
        if asked.method != "POST":
            return self._headers
        return {**self.plain_headers(), "Idempotency-Key": fresh_key()}

    def plain_headers(self) -> dict[str, str]:
        """The headers of a call with a body that is the same done twice, by what it says itself."""
        return {**self._headers, "Content-Type": "application/json"}

    def start(
        self,
        flow: Flow | str,
        input: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        labels: Mapping[str, str] | None = None,
        file: str | None = None,
    ) -> Run:
        """Starts a run: of a flow that was built, of a flow's text, or of a registered flow by its name.

        The same `key` gives the same run. Without one, a start whose answer was lost raises `Unreachable` with `sent`.
        """
        told = self.ask(calls.start(flow, input, key, labels, file))
        return Run(self, told["run"], told["new"])

    def run(self, id: str) -> Run:
        """A run by its id, or by the beginning of it."""
        return Run(self, id, False)

    def wait(self, run: str, timeout: float | None = None) -> Ended:
        """Waits until a run has ended; `TimeoutError` if it has not by then."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = POLL_SECONDS if until is None else min(POLL_SECONDS, max(0.0, until - time.monotonic()))
            end = ended(self.ask(calls.end(run, left)))
            if end is not None:
                return end
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"run {run} has not ended within {timeout} s")

    def show(self, run: str) -> Any:
        """A run with all its tasks, in the form of `edgewise show --json`."""
        return self.ask(calls.show(run))

    def why(self, run: str) -> Any:
        """Why a run does not go on, in the form of `edgewise why --json`."""
        return self.ask(calls.why(run))

    def runs(self, search: str | None = None, *, all: bool = False, page: int | None = None) -> Iterator[Any]:
        """Runs, the newest first, page after page; `search` as in `state:failed flow:x label.team=web`."""
        after: str | None = None
        while True:
            told = self.ask(calls.runs(search, all, after, page))
            yield from told["runs"]
            after = told.get("next")
            if after is None:
                return

    def flows(self) -> list[Any]:
        """The flows that are registered."""
        all: list[Any] = []
        after: str | None = None
        while True:
            told = self.ask(calls.flows(after))
            all += told["flows"]
            after = told.get("next")
            if after is None:
                return all

    def register(self, flow: Flow | str, *, file: str | None = None) -> list[Any]:
        """Puts the flows of a text under their names, with their schedules; what each of them came to."""
        told: list[Any] = self.ask(calls.register(flow, file))["flows"]
        return told

    def namespaces(self) -> list[Any]:
        """The queues of domain events, and who reads them."""
        told: list[Any] = self.ask(calls.namespaces())["namespaces"]
        return told

    def domain(
        self, namespace: str, *, consumer: str | None = None, after: int | None = None, page: int | None = None
    ) -> Iterator[DomainEvent]:
        """The events in a queue, in order: those that a consumer has not acknowledged, or those behind a place."""
        while True:
            told = self.ask(calls.domain(namespace, after, consumer, page))
            yield from (DomainEvent(one["place"], one["event"]) for one in told["events"])
            # A page behind the first goes on by its place: what was read is not acknowledged.
            after, consumer = told.get("next"), None
            if after is None:
                return

    def acknowledge(self, namespace: str, consumer: str, place: int) -> int:
        """A consumer has dealt with everything up to a place. Where it is then."""
        return int(self.ask(calls.acknowledge(namespace, consumer, place))["place"])

    def forget(self, namespace: str, consumer: str) -> None:
        """A consumer is gone: nothing is kept for it any more."""
        self.ask(calls.forget(namespace, consumer))

    def domain_events(self, namespace: str, *, after: int | None = None) -> Iterator[DomainEvent]:
        """Domain events as they happen, without an end; behind a place, else from now on. Fast ones have no place."""
        last = None if after is None else str(after)
        for event in self._follow(calls.domain_events(namespace), last):
            yield DomainEvent(None if event.id is None else int(event.id), event.data)

    def workspace_events(
        self, *, after: str | None = None, types: Iterable[str] | None = None, run: str | None = None
    ) -> Iterator[Event]:
        """The events of the whole workspace, without an end; behind one by its `id`, else from now on, `0` is the first."""
        yield from self._follow(calls.workspace_events(types, run), after)

    def _follow(self, path: str, last: str | None) -> Iterator[Event]:
        """A stream that has no end. Cut off, it goes on behind the last event that had an id."""
        backoff = Backoff(self._patience)
        while True:
            trouble: EdgewiseError = Unreachable(f"{self._address} ended a stream that has no end", sent=True)
            try:
                for event in self._stream(path, last, backoff):
                    last = last if event.id is None else event.id
                    yield event
            except (Unreachable, Unavailable, TooMany) as problem:
                trouble = problem
            pause = backoff.next()
            if pause is None:
                raise trouble
            time.sleep(pause)

    def events(self, run: str, *, after: int = 0) -> Iterator[Event]:
        """The events of a run as they are committed, until it ends. Cut off, it goes on behind the last one."""
        backoff = Backoff(self._patience)
        over = False
        while True:
            try:
                news = False
                for event in self._stream(calls.events(run), str(after), backoff):
                    after, news = event.seq, True
                    yield event
                if over and not news:
                    return
                # A stream also ends when its server does: the rest of a run that has ended comes with the next one.
                over = ended(self.ask(calls.end(run, 0.0))) is not None
                if over:
                    continue
                trouble: EdgewiseError = Unreachable(f"the events of run {run} ended before it did", sent=True)
            except (Unreachable, Unavailable, TooMany) as problem:
                trouble = problem
            pause = backoff.next()
            if pause is None:
                raise trouble
            time.sleep(pause)

    def _stream(self, path: str, last: str | None, backoff: Backoff) -> Iterator[Event]:
        connection = self._address.connect(SILENCE_SECONDS)
        headers = {**self._headers, "Accept": "text/event-stream"}
        if last:
            headers["Last-Event-ID"] = last
        lines = Lines()
        try:
            connection.request("GET", self._address.prefix + path, headers=headers)
            response = connection.getresponse()
            if response.status >= 400:
                raise Problem.of(response.status, decoded(response.read()))
            backoff.answered()
            # Not by lines: reading those takes a connection that broke off for the end.
            while chunk := response.read1(1 << 16):
                backoff.reset()
                yield from lines.feed(chunk)
        except (OSError, HTTPException) as error:
            raise Unreachable(f"{self._address} broke off: {error!r}", sent=True) from error
        finally:
            connection.close()

    def cancel(self, run: str, task: str | None = None, *, why: str | None = None) -> bool:
        """Nothing of the run, or of one task, may start any more. True if that is new."""
        return self._act("cancel", run, task, why)

    def pause(self, run: str, *, why: str | None = None) -> bool:
        """No new leases for now."""
        return self._act("pause", run, None, why)

    def resume(self, run: str, *, why: str | None = None) -> bool:
        """Leases again."""
        return self._act("resume", run, None, why)

    def reset(self, run: str, task: str, *, why: str | None = None) -> bool:
        """Gives a failed task new attempts."""
        return self._act("reset", run, task, why)

    def skip(self, run: str, task: str, *, why: str | None = None) -> bool:
        """Leaves a task out."""
        return self._act("skip", run, task, why)

    def resolve(self, run: str, task: str | None = None, *, why: str | None = None) -> bool:
        """Declares a run, or one task, dealt with."""
        return self._act("resolve", run, task, why)

    def give_up(self, run: str, *, why: str | None = None) -> bool:
        """Lets the failures stand that a run holds."""
        return self._act("give-up", run, None, why)

    def freeze(self, run: str, *, why: str | None = None) -> bool:
        """Lets nothing but reads work on a run."""
        return self._act("freeze", run, None, why)

    def unfreeze(self, run: str, *, why: str | None = None) -> bool:
        """Lets a frozen run go on."""
        return self._act("unfreeze", run, None, why)

    def _act(self, verb: str, run: str, task: str | None, why: str | None) -> bool:
        return not self.ask(calls.act(verb, run, task, why))["already"]

    def rerun(self, run: str, task: str | None = None, *, failed: bool = False, why: str | None = None) -> int:
        """Has finished work done again: all of it, what failed, or from one task on. How many tasks were opened."""
        return int(self.ask(calls.rerun(run, task, failed, why)).get("reopened") or 0)

    def supply(self, run: str, task: str, output: Any, *, why: str | None = None) -> None:
        """Supplies a task's output in place of its own."""
        self.ask(calls.supply(run, task, output, why))

    def approve(self, run: str, gate: str, *, comment: str | None = None) -> bool:
        """Says yes to a gate."""
        return not self.ask(calls.speak("approve", run, gate, comment))["already"]

    def withdraw(self, run: str, gate: str, *, comment: str | None = None) -> bool:
        """Takes a yes back."""
        return not self.ask(calls.speak("withdraw", run, gate, comment))["already"]

    def reject(self, run: str, gate: str, *, comment: str | None = None) -> bool:
        """Says no to a gate."""
        return not self.ask(calls.speak("reject", run, gate, comment))["already"]

    def satisfy(self, run: str, gate: str, output: Any = None, *, comment: str | None = None) -> bool:
        """What a webhook or external gate waits for is so; `output` becomes the gate's."""
        return not self.ask(calls.satisfy(run, gate, output, comment))["already"]


@dataclass(frozen=True)
class Run:
    """One run, with the client that knows where it is."""

    client: Client
    id: str
    #: False if the same key had started it before.
    new: bool

    def wait(self, timeout: float | None = None) -> Ended:
        """Waits until it has ended."""
        return self.client.wait(self.id, timeout)

    def result(self, timeout: float | None = None) -> Any:
        """Waits for what it makes; `RunFailed` if it does not go well."""
        return self.wait(timeout).result()

    def show(self) -> Any:
        """The run with all its tasks."""
        return self.client.show(self.id)

    def events(self, *, after: int = 0) -> Iterator[Event]:
        """Its events as they are committed."""
        return self.client.events(self.id, after=after)

    def cancel(self, task: str | None = None, *, why: str | None = None) -> bool:
        """Nothing of it, or of one task, may start any more."""
        return self.client.cancel(self.id, task, why=why)

    def approve(self, gate: str, *, comment: str | None = None) -> bool:
        """Says yes to a gate."""
        return self.client.approve(self.id, gate, comment=comment)

    def reject(self, gate: str, *, comment: str | None = None) -> bool:
        """Says no to a gate."""
        return self.client.reject(self.id, gate, comment=comment)

    def satisfy(self, gate: str, output: Any = None, *, comment: str | None = None) -> bool:
        """What a webhook or external gate waits for is so."""
        return self.client.satisfy(self.id, gate, output, comment=comment)
