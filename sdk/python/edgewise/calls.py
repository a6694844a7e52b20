"""What can be asked of a server, without asking: a function makes the call, a client of either kind performs it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from .flow import Flow

API = "/api/v1"


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    body: bytes | None = None
    #: Whether doing it twice is the same as doing it once, also over a restart of the server.
    again: bool = True
    #: How long the server may think about it before it answers, beyond what any request takes.
    wait: float = 0.0


#: A value as JSON text. What JSON cannot say is refused, not changed.
encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def encoded(value: Any) -> bytes:
    """A value as the body of a request."""
    return encode(value).encode()


def _get(path: str, *, wait: float = 0.0, **query: Any) -> Call:
    given = {name: value for name, value in query.items() if value is not None}
    return Call("GET", API + path + (f"?{urlencode(given)}" if given else ""), wait=wait)


def post(path: str, body: Mapping[str, Any], *, again: bool = True, wait: float = 0.0) -> Call:
    """A request with a body; what is not given is left out."""
    given = {name: value for name, value in body.items() if value is not None}
    return Call("POST", API + path, encoded(given), again=again, wait=wait)


def _run(run: str, rest: str = "") -> str:
    return f"/runs/{quote(run, safe='')}{rest}"


def start(
    flow: Flow | str,
    input: Mapping[str, Any] | None,
    key: str | None,
    labels: Mapping[str, str] | None,
    file: str | None,
) -> Call:
    """Starts a run: of a flow that was built, of a flow's text, or of a registered flow by its name."""
    asked: dict[str, Any] = {"input": input, "key": key, "labels": labels}
    if isinstance(flow, Flow):
        asked["source"] = flow.text()
    elif file is not None or "\n" in flow:
        asked |= {"source": flow, "file": file}
    else:
        asked["flow"] = flow
    # Without a key of its own, a start that was answered by a server that died since would be a second run.
    return post("/runs", asked, again=key is not None)


def show(run: str) -> Call:
    return _get(_run(run))


def why(run: str) -> Call:
    return _get(_run(run, "/why"))


def end(run: str, wait: float) -> Call:
    return _get(_run(run, "/end"), wait=wait, wait_ms=round(wait * 1000))


def events(run: str) -> str:
    return API + _run(run, "/events")


def runs(search: str | None, all: bool, after: str | None, limit: int | None) -> Call:
    return _get("/runs", q=search, all="true" if all else None, after=after, limit=limit)


def flows(after: str | None) -> Call:
    return _get("/flows", after=after)


def register(flow: Flow | str, file: str | None) -> Call:
    """Puts the flows of a text under their names: the same again changes nothing."""
    return post("/flows", {"source": flow.text() if isinstance(flow, Flow) else flow, "file": file})


def _queue(namespace: str, rest: str = "") -> str:
    return f"/domain/{quote(namespace, safe='')}{rest}"


def namespaces() -> Call:
    return _get("/domain")


def domain(namespace: str, after: int | None, consumer: str | None, limit: int | None) -> Call:
    return _get(_queue(namespace), after=after, consumer=consumer, limit=limit)


def acknowledge(namespace: str, consumer: str, place: int) -> Call:
    return post(_queue(namespace, "/ack"), {"consumer": consumer, "place": place})


def forget(namespace: str, consumer: str) -> Call:
    # Asked again it is not found any more.
    return post(_queue(namespace, "/forget"), {"consumer": consumer}, again=False)


def domain_events(namespace: str) -> str:
    return API + _queue(namespace, "/events")


def workspace_events(types: Iterable[str] | None, run: str | None) -> str:
    kinds = None if types is None else ",".join(types)
    return _get("/events", type=kinds, run=run).path


def act(verb: str, run: str, task: str | None, why: str | None) -> Call:
    """Acts that leave a run as it is if it is so already."""
    return post(_run(run, f"/{verb}"), {"task": task, "why": why}, again=verb != "reset")


def rerun(run: str, task: str | None, failed: bool, why: str | None) -> Call:
    return post(_run(run, "/rerun"), {"task": task, "failed": failed or None, "why": why}, again=False)


def supply(run: str, task: str, output: Any, why: str | None) -> Call:
    body = {"task": task, "why": why} if why else {"task": task}
    return Call("POST", API + _run(run, "/complete"), encoded({**body, "output": output}), again=False)


def speak(verb: str, run: str, gate: str, comment: str | None) -> Call:
    return post(_run(run, f"/{verb}"), {"task": gate, "comment": comment})


def satisfy(run: str, gate: str, output: Any, comment: str | None) -> Call:
    return post(_run(run, "/satisfy"), {"task": gate, "output": output, "comment": comment})
