"""The flow builder: a flow written as Python, printed as the text that `edgewise check` reads.

::

    f = flow("release", retry=Retry(3, base="2s"), timeout="10m")
    version = f.input("version", "string")
    plan = f.task("plan", call("ci.plan", version=version))
    build = f.task("build", call("ci.build", target=item["name"]), each=plan["targets"])
    test = f.task("test", call("ci.test", builds=build))
    f.output({"report": test})

What a task is given names what it waits for: a reference to another task's output is an edge. JSON is YAML, so the
text is JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")

#: A time span: seconds, a `timedelta`, or text as in a flow, such as `10m`.
Span = str | int | float | timedelta


class Ref:
    """A reference to a value that is known when the run is there. In a text it stands as `${{ … }}`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        #: The expression itself, to be used in others.
        self.text = text

    def __getitem__(self, key: str | int) -> Ref:
        if isinstance(key, str) and _WORD.match(key):
            return Ref(f"{self.text}.{key}")
        return Ref(f"{self.text}[{json.dumps(key)}]")

    def __str__(self) -> str:
        return f"${{{{ {self.text} }}}}"

    # Without this, indexing would make every reference iterable, without an end.
    __iter__ = None


#: The item of a spread (`each=`).
item = Ref("item")


def expr(text: str) -> Ref:
    """Any expression, as in `expr(f"size({plan.output.text}) > 2")`."""
    return Ref(text)


def literal(text: str) -> str:
    """A text in which `${{` is nothing but text."""
    return text.replace("${{", '${{ "$" }}{{')


@dataclass(frozen=True)
class Retry:
    """How often a task is tried, and how long is waited in between."""

    max_attempts: int
    base: Span | None = None
    kind: str | None = None
    factor: float | None = None
    cap: Span | None = None
    jitter: int | None = None
    #: Types of failures that are not tried again.
    never: Sequence[str] = ()

    def plain(self) -> Any:
        """As it stands in a flow."""
        backoff = _given(kind=self.kind, base=_span(self.base), factor=self.factor, cap=_span(self.cap))
        return _given(
            max_attempts=self.max_attempts,
            backoff=backoff or None,
            jitter=self.jitter,
            never=list(self.never) or None,
        )


@dataclass(frozen=True)
class Timeout:
    """How long an attempt, the task as a whole, the wait for a worker, and its silence between two heartbeats may take."""

    attempt: Span | None = None
    overall: Span | None = None
    queue: Span | None = None
    heartbeat: Span | None = None

    def plain(self) -> Any:
        """As it stands in a flow."""
        spans = {"attempt": self.attempt, "overall": self.overall, "queue": self.queue, "heartbeat": self.heartbeat}
        return _given(**{name: _span(span) for name, span in spans.items()})


@dataclass(frozen=True)
class Work:
    """Who does a task, and what they are given; `call`, `shell`, `timer` and the other functions here make it."""

    keys: Mapping[str, Any]


@dataclass(frozen=True)
class Publish:
    """A domain event: what the outside world is told when a task, or the whole run, ends in a way."""

    name: str
    #: `success` unless said otherwise; `failure`, `retryable_failure`, `permanent_failure` or `always`.
    condition: str | None = None
    #: `durable` unless said otherwise; `fast` or `broadcast`.
    delivery: str | None = None
    #: What is told; the output unless said otherwise.
    payload: Any = None

    def plain(self) -> Any:
        """As it stands in a flow."""
        said = _given(condition=self.condition, delivery=self.delivery, payload=_plain(self.payload))
        return {"name": self.name, **said} if said else self.name


#: What is told: an event by its name alone, or with its condition, or several.
Told = str | Publish | Sequence[str | Publish]

#: Who else is asked after a while, step by step: the time since the gate was reached, and people.
Escalation = Sequence[tuple[Span, str | Sequence[str]]]


def call(action: str, /, **given: Any) -> Work:
    """A worker that offers the action."""
    return Work(_given(action=action, **{"with": given or None}))


def shell(script: str, /, *, reads: str | None = None, **env: Any) -> Work:
    """A shell on the server's machine; `reads` says how its output is read: `text`, `json` or `lines`."""
    return Work(_given(run=script, output=reads, env=env or None))


def request(
    url: str, /, *, method: str | None = None, json: Any = None, headers: Mapping[str, str] | None = None
) -> Work:
    """An HTTP request that the server makes."""
    return Work({"http": _given(url=url, method=method, json=json, headers=headers)})


def timer(span: Span, /) -> Work:
    """A wait."""
    return Work({"gate": {"timer": _span(span)}})


def approval(
    *people: str,
    count: int | None = None,
    deadline: Span | None = None,
    on_deadline: str | None = None,
    escalate: Escalation = (),
    evidence: Evidence = (),
) -> Work:
    """A wait for so many of these people; `evidence` names the tasks whose outputs they are shown."""
    asked = _given(**{"from": list(people)}, count=count)
    later = [{"after": _span(after), "to": [to] if isinstance(to, str) else list(to)} for after, to in escalate]
    return _gate({"approval": asked, "escalate": later or None}, deadline, on_deadline, evidence)


def webhook(*, deadline: Span | None = None, on_deadline: str | None = None, evidence: Evidence = ()) -> Work:
    """A wait for a call of the gate's address; what is sent there is the output."""
    return _gate({"webhook": {}}, deadline, on_deadline, evidence)


def external(
    system: str, id: Any, /, *, deadline: Span | None = None, on_deadline: str | None = None, evidence: Evidence = ()
) -> Work:
    """A wait until another system says so of the thing that it calls so."""
    return _gate({"external": {"system": system, "id": id}}, deadline, on_deadline, evidence)


def _gate(wait: Mapping[str, Any], deadline: Span | None, on_deadline: str | None, evidence: Evidence) -> Work:
    shown = [task.name if isinstance(task, Task) else task for task in evidence]
    bounds = _given(deadline=_span(deadline), on_deadline=on_deadline, evidence=shown or None)
    return Work({"gate": {**_given(**wait), **bounds}})


def emit(name: str, /, payload: Any = None, *, delivery: str | None = None) -> Work:
    """Tells the outside world of a domain event when the flow comes to it; nobody works on it."""
    return Work({"emit": _given(name=name, delivery=delivery, payload=payload)})


def sub_run(flow: str, /, **inputs: Any) -> Work:
    """A run of another flow."""
    return Work(_given(flow=flow, **{"with": inputs or None}))


def person(title: str, /, **fields: Any) -> Work:
    """An item of the work graph, which somebody closes."""
    return Work({"item": {"title": title, **fields}})


class Task:
    """A task of a flow that is being built. Used as a value, it is its output."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def output(self) -> Ref:
        """What it will have made."""
        return Ref("tasks")[self.name]["output"]

    def __getitem__(self, key: str | int) -> Ref:
        return self.output[key]

    def __str__(self) -> str:
        return str(self.output)

    __iter__ = None


#: Tasks whose outputs somebody is shown who decides on a gate.
Evidence = Sequence[Task | str]

#: What a task waits for beside what it refers to: tasks, or tasks with the ends that are accepted.
After = Task | str | Sequence[Task | str] | Mapping[str, str | Sequence[str]]


class Flow:
    """A flow that is being built."""

    def __init__(self, name: str, keys: dict[str, Any]) -> None:
        self.name = name
        self._keys = keys
        self._inputs: dict[str, Any] = {}
        self._tasks: dict[str, Any] = {}
        self._secrets: list[str] = []
        self._schedules: list[dict[str, Any]] = []
        self._webhook: dict[str, Any] | None = None
        self._output: Any = None

    def input(
        self,
        name: str,
        type: str | None = None,
        *,
        default: Any = None,
        required: bool | None = None,
        pattern: str | None = None,
        description: str | None = None,
    ) -> Ref:
        """Something that a run is given."""
        self._new(name, self._inputs, "input")
        self._inputs[name] = _given(
            type=type, default=_plain(default), required=required, pattern=pattern, description=description
        )
        return Ref("inputs")[name]

    def secret(self, name: str) -> Ref:
        """Something that tasks are given without anybody seeing it; where it is found the server says."""
        if name not in self._secrets:
            self._secrets.append(name)
        return Ref("secrets")[name]

    def on_schedule(
        self,
        *,
        cron: str | None = None,
        zone: str | None = None,
        every: Span | None = None,
        at: str | None = None,
        start: str | None = None,
        name: str | None = None,
        jitter: Span | None = None,
        overlap: str | None = None,
        catch_up: Any = None,
        given: Mapping[str, Any] | None = None,
    ) -> None:
        """Has runs begin by themselves once the flow is registered: by `cron`, `every` so often, or once `at` an instant."""
        rhythm = _given(name=name, cron=cron, zone=zone, every=_span(every), at=at, **{"from": start})
        rest = _given(jitter=_span(jitter), overlap=overlap, catch_up=catch_up, **{"with": _plain(given)})
        self._schedules.append({**rhythm, **rest})

    def on_webhook(self, *, into: str | None = None) -> None:
        """Has a run begin when the address of the registered flow is called; the body is its input, or that named here."""
        self._webhook = _given(into=into)

    def task(
        self,
        name: str,
        work: Work,
        *,
        after: After | None = None,
        join: str | int | None = None,
        when: Ref | None = None,
        each: Ref | Task | Sequence[Any] | None = None,
        tolerate: int | None = None,
        fail_fast: bool | None = None,
        retry: int | Retry | None = None,
        timeout: Span | Timeout | None = None,
        queue: str | None = None,
        priority: int | None = None,
        limit: Mapping[str, Any] | None = None,
        publish: Told | None = None,
    ) -> Task:
        """Adds a task. Its name is what the run shows."""
        self._new(name, self._tasks, "task")
        self._tasks[name] = _given(
            **{key: _plain(value) for key, value in work.keys.items()},
            after=_after(after),
            join=join,
            when=None if when is None else when.text,
            each=None if each is None else _expression(each),
            tolerate=tolerate,
            fail_fast=fail_fast,
            retry=_retry(retry),
            timeout=_timeout(timeout),
            queue=queue,
            priority=priority,
            limit=_plain(limit),
            publish=_told(publish),
        )
        return Task(name)

    def output(self, value: Any) -> None:
        """What the run makes."""
        self._output = _plain(value)

    def plain(self) -> dict[str, Any]:
        """The flow as values: what its text says."""
        return _given(
            flow=self.name,
            **self._keys,
            on=_given(schedule=self._schedules or None, webhook=self._webhook) or None,
            inputs=self._inputs or None,
            secrets=self._secrets or None,
            tasks=self._tasks,
            output=self._output,
        )

    def text(self) -> str:
        """The flow's text."""
        return json.dumps(self.plain(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def _new(self, name: str, known: dict[str, Any], what: str) -> None:
        if name in known:
            raise ValueError(f"flow {self.name} has a second {what} {name!r}: give it another name")


def flow(
    name: str,
    *,
    description: str | None = None,
    labels: Mapping[str, str] | None = None,
    namespace: str | None = None,
    on_failure: str | None = None,
    retry: int | Retry | None = None,
    timeout: Span | Timeout | None = None,
    queue: str | None = None,
    priority: int | None = None,
    publish: Told | None = None,
) -> Flow:
    """Begins a flow. Policies hold for all its tasks that do not say otherwise."""
    defaults = _given(retry=_retry(retry), timeout=_timeout(timeout), queue=queue, priority=priority)
    keys = _given(
        description=description,
        labels=labels,
        namespace=namespace,
        on_failure=on_failure,
        defaults=defaults or None,
        publish=_told(publish),
    )
    return Flow(name, keys)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, (Ref, Task)):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def _told(told: Told | None) -> Any:
    if told is None:
        return None
    events = [told] if isinstance(told, (str, Publish)) else told
    return [event.plain() if isinstance(event, Publish) else event for event in events]


def _after(after: After | None) -> Any:
    if after is None:
        return None
    if isinstance(after, Mapping):
        return {name: ends if isinstance(ends, str) else list(ends) for name, ends in after.items()}
    tasks = [after] if isinstance(after, (Task, str)) else after
    return [task.name if isinstance(task, Task) else task for task in tasks]


def _expression(value: Any) -> str:
    """A value as an expression: JSON is one, and references may stand in it."""
    if isinstance(value, Task):
        return value.output.text
    if isinstance(value, Ref):
        return value.text
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {_expression(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_expression(inner) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _retry(retry: int | Retry | None) -> Any:
    return retry.plain() if isinstance(retry, Retry) else retry


def _timeout(timeout: Span | Timeout | None) -> Any:
    return timeout.plain() if isinstance(timeout, Timeout) else _span(timeout)


def _span(span: Span | None) -> str | None:
    if span is None or isinstance(span, str):
        return span
    seconds = span.total_seconds() if isinstance(span, timedelta) else span
    return f"{round(seconds * 1000)}ms"
