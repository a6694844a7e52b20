"""What callers do: start, wait, look, act, and what they are told when it cannot be."""

from __future__ import annotations

import asyncio
import threading
import unittest
from collections.abc import Callable

import edgewise
from edgewise import AsyncClient, Client, DomainEvent, Flow, approval, call, emit, external, flow, shell, timer, webhook

from .server import Server

server: Server


def setUpModule() -> None:
    global server
    server = Server("--work")


def tearDownModule() -> None:
    server.close()


def echo(*, name: str = "echo") -> Flow:
    f = flow(name)
    f.output(f.task("say", shell("printf hello")))
    return f


class Starting(unittest.TestCase):
    def setUp(self) -> None:
        self.client = server.client()
        self.addCleanup(self.client.close)

    def test_a_run_is_started_and_its_result_waited_for(self) -> None:
        run = self.client.start(echo())
        self.assertEqual(run.result(20), "hello")
        self.assertTrue(run.new)
        self.assertEqual(run.show()["run"], run.id)

    def test_the_same_key_gives_the_same_run(self) -> None:
        first = self.client.start(echo(), key="k1", labels={"team": "web"})
        again = self.client.start(echo(), key="k1", labels={"team": "web"})
        self.assertEqual((first.id, first.new, again.new), (again.id, True, False))

    def test_text_and_input_are_taken_as_they_are(self) -> None:
        a = "{ run: 'echo \"$N\"', env: { N: '${{ inputs.n }}' }, output: json }"
        text = f"flow: f\ninputs: {{ n: {{ type: integer }} }}\ntasks:\n  a: {a}\n"
        self.assertEqual(self.client.start(text, {"n": 7}).result(20), {"a": 7})

    def test_a_wait_that_is_too_short_says_so(self) -> None:
        f = flow("slow")
        f.task("wait", timer("1h"))
        run = self.client.start(f)
        with self.assertRaises(TimeoutError):
            run.wait(0.05)
        self.assertTrue(run.cancel(why="enough"))
        self.assertFalse(run.cancel())
        end = run.wait(20)
        self.assertEqual((end.ok, end.state), (False, "Cancelled"))
        with self.assertRaises(edgewise.RunFailed) as failed:
            end.result()
        self.assertEqual(failed.exception.run, run.id)

    def test_runs_are_listed_page_after_page(self) -> None:
        started = {self.client.start(echo(name="listed")).id for _ in range(5)}
        self.assertEqual({run["run"] for run in self.client.runs("flow:listed", page=2)}, started)


class Refusals(unittest.TestCase):
    def test_each_refusal_has_a_type_and_a_stable_code(self) -> None:
        client = server.client()
        self.addCleanup(client.close)
        ended = client.start(echo())
        ended.wait(20)
        cases: list[tuple[Callable[[], object], type[edgewise.Problem], str | None]] = [
            (lambda: client.show("r000000000000000"), edgewise.NotFound, "run_not_found"),
            (lambda: client.start("nobody-registered-this"), edgewise.NotFound, "flow_not_found"),
            (lambda: client.start("flow: x\n"), edgewise.Invalid, "bad_flow"),
            (lambda: Client(server.url, token="wrong").flows(), edgewise.Unauthorized, "bad_token"),
            (lambda: client.approve(ended.id, "say"), edgewise.Problem, None),
        ]
        for ask, kind, code in cases:
            with self.subTest(kind.__name__), self.assertRaises(kind) as refused:
                ask()
            self.assertTrue(issubclass(kind, edgewise.EdgewiseError))
            if code is not None:
                self.assertEqual(refused.exception.code, code)

    def test_nobody_at_the_address_is_unreachable(self) -> None:
        client = Client("http://127.0.0.1:1", patience=0.0)
        with self.assertRaises(edgewise.Unreachable) as nobody:
            client.flows()
        self.assertFalse(nobody.exception.sent)


class Acting(unittest.TestCase):
    def test_a_gate_opens_when_the_right_people_agree(self) -> None:
        f = flow("release")
        ask = f.task("ask", approval("lead", "quality", count=2))
        f.task("ship", shell("printf shipped"), after=ask)
        run = server.client().start(f)
        lead, quality = (Client(server.url, who=who) for who in ("lead", "quality"))
        self.assertTrue(lead.approve(run.id, "ask", comment="fine"))
        self.assertTrue(lead.withdraw(run.id, "ask"))
        self.assertTrue(lead.approve(run.id, "ask"))
        self.assertTrue(quality.approve(run.id, "ask"))
        self.assertTrue(run.wait(20).ok)

    def test_a_gate_that_is_refused_fails(self) -> None:
        f = flow("refused")
        f.task("ask", approval("lead"))
        run = server.client().start(f)
        Client(server.url, who="lead").reject(run.id, "ask")
        self.assertEqual(run.wait(20).state, "Error")

    def test_gates_that_the_world_opens_are_built_and_may_be_refused_by_anybody(self) -> None:
        f = flow("outside")
        f.task("hook", webhook(deadline="2d"))
        f.task("ticket", external("jira", "ABC-1", deadline="1h", on_deadline="open"))
        run = server.client().start(f)
        for gate in ("hook", "ticket"):
            self.assertTrue(server.client().reject(run.id, gate))
        self.assertEqual(run.wait(20).state, "Error")

    def test_gates_that_the_world_opens_are_satisfied_with_what_came(self) -> None:
        client = server.client()
        f = flow("satisfied")
        f.task("hook", webhook())
        f.task("ticket", external("jira", "ABC-2"))
        run = client.start(f)
        self.assertTrue(client.satisfy(run.id, "hook", {"state": "merged"}, comment="seen by hand"))
        with self.assertRaises(edgewise.Conflict, msg="it does not wait any more"):
            run.satisfy("hook", {"state": "other"})
        self.assertTrue(run.satisfy("ticket"))
        self.assertEqual(run.result(20), {"hook": {"state": "merged"}})

    def test_a_run_is_paused_resumed_and_done_again(self) -> None:
        client = server.client()
        f = flow("again")
        f.task("wait", timer("1h"))
        f.task("say", shell("printf hello"), after="wait")
        run = client.start(f)
        self.assertTrue(client.pause(run.id))
        self.assertTrue(client.resume(run.id))
        client.skip(run.id, "wait")
        run.wait(20)
        done = client.start(echo())
        done.wait(20)
        self.assertEqual(client.rerun(done.id, why="once more"), 1)
        self.assertTrue(done.wait(20).ok)


class Telling(unittest.TestCase):
    """Domain events, registered flows, and the events of the workspace."""

    def setUp(self) -> None:
        self.client = server.client()
        self.addCleanup(self.client.close)

    def tells(self, namespace: str, names: int = 3) -> Flow:
        f = flow("tells", namespace=namespace)
        for n in range(names):
            f.task(f"t{n}", emit(f"e{n}", {"n": n}), after=[f"t{n - 1}"] if n else None)
        return f

    def queued(self, namespace: str, count: int) -> list[DomainEvent]:
        """The events of a queue, once they are there: they are told after the commit, and nobody waits for it."""
        told = self.client.domain_events(namespace, after=0)
        return [next(told) for _ in range(count)]

    def test_a_consumer_reads_what_it_has_not_acknowledged(self) -> None:
        self.client.start(self.tells("shop/eu")).wait(20)
        told = self.queued("shop/eu", 3)
        self.assertEqual([event.name for event in told], ["e0", "e1", "e2"])
        self.assertEqual(told[1].event["data"]["payload"], {"n": 1})
        self.assertEqual(list(self.client.domain("shop/eu", page=2)), told)
        place = told[0].place
        assert place is not None
        self.assertEqual(self.client.acknowledge("shop/eu", "billing", place), place)
        self.assertEqual(list(self.client.domain("shop/eu", consumer="billing", page=1)), told[1:])
        self.assertEqual(list(self.client.domain("shop/eu", after=told[1].place)), told[2:])
        names = [queue["namespace"] for queue in self.client.namespaces()]
        self.assertIn("shop/eu", names)
        self.client.forget("shop/eu", "billing")
        with self.assertRaises(edgewise.NotFound):
            self.client.forget("shop/eu", "billing")

    def test_fast_events_come_without_a_place(self) -> None:
        f = flow("quick", namespace="quick")
        f.task("then", emit("then"))
        f.task("ask", approval("lead"), after="then")
        f.task("now", emit("now", delivery="fast"), after="ask")
        run = self.client.start(f)
        told = self.client.domain_events("quick", after=0)
        # Whoever has heard the first is there for the second.
        self.assertEqual(next(told).name, "then")
        Client(server.url, who="lead").approve(run.id, "ask")
        now = next(told)
        self.assertEqual((now.name, now.place), ("now", None))

    def test_the_events_of_a_workspace_begin_where_they_are_asked_to(self) -> None:
        run = self.client.start(echo())
        run.wait(20)
        stream = self.client.workspace_events(after="0", types=["RunTriggered"], run=run.id)
        first = next(stream)
        self.assertEqual((first.name, first.data["run"]), ("RunTriggered", run.id))
        own = self.client.workspace_events(after="0", run=run.id)
        events = [next(own) for _ in range(3)]
        behind = self.client.workspace_events(after=events[1].id, run=run.id)
        self.assertEqual(next(behind), events[2])

    def test_registered_flows_are_listed_all_of_them_and_begin_by_name(self) -> None:
        for n in range(103):
            self.client.register(echo(name=f"kept-{n:03}"))
        made = self.client.register(echo(name="kept-000"))
        self.assertEqual([(one["flow"], one["changed"]) for one in made], [("kept-000", False)])
        names = [known["flow"] for known in self.client.flows()]
        self.assertEqual([name for name in names if name.startswith("kept-")], [f"kept-{n:03}" for n in range(103)])
        self.assertEqual(self.client.start("kept-102").result(20), "hello")


class Streaming(unittest.TestCase):
    def test_events_come_in_order_and_go_on_behind_the_last(self) -> None:
        run = server.client().start(echo())
        events = list(run.events())
        self.assertEqual([event.seq for event in events], list(range(1, len(events) + 1)))
        self.assertEqual(events[0].name, "RunTriggered")
        self.assertEqual(list(run.events(after=2)), events[2:])

    def test_a_stream_goes_on_where_it_was_when_its_server_is_killed(self) -> None:
        own = Server("--work")
        self.addCleanup(own.close)
        f = flow("long")
        f.task("ask", approval("lead"))
        f.task("say", shell("printf hello"), after="ask")
        client = own.client(patience=30.0)
        self.addCleanup(client.close)
        run = client.start(f)
        seen: list[int] = []
        first = threading.Event()

        def follow() -> None:
            for event in run.events():
                seen.append(event.seq)
                first.set()

        reader = threading.Thread(target=follow)
        reader.start()
        self.assertTrue(first.wait(20))
        own.kill()
        own.restart()
        Client(own.url, who="lead").approve(run.id, "ask")
        reader.join(30)
        self.assertEqual(seen, [event.seq for event in run.events()])


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_many_runs_are_waited_for_at_once(self) -> None:
        async with AsyncClient(server.url) as client:
            runs = await asyncio.gather(*(client.start(echo()) for _ in range(10)))
            self.assertEqual(await asyncio.gather(*(run.result(30) for run in runs)), ["hello"] * 10)
            events = [event.seq async for event in runs[0].events()]
            self.assertEqual(events, list(range(1, len(events) + 1)))
            listed = [run async for run in client.runs("flow:echo", page=3)]
            self.assertLessEqual({run.id for run in runs}, {run["run"] for run in listed})

    async def test_queues_and_flows_are_there_too(self) -> None:
        async with AsyncClient(server.url) as client:
            f = flow("async-tells", namespace="async")
            f.task("a", emit("one"))
            f.task("b", emit("two"), after="a")
            await (await client.start(f)).wait(20)
            told = []
            async for event in client.domain_events("async", after=0):
                told.append(event)
                if len(told) == 2:
                    break
            self.assertEqual([event.name for event in told], ["one", "two"])
            place = told[0].place
            assert place is not None
            self.assertEqual(await client.acknowledge("async", "c", place), place)
            self.assertEqual([event async for event in client.domain("async", consumer="c")], told[1:])
            await client.forget("async", "c")
            self.assertEqual((await client.register(f))[0]["flow"], "async-tells")
            self.assertIn("async-tells", [known["flow"] for known in await client.flows()])
            self.assertIn("async", [queue["namespace"] for queue in await client.namespaces()])
            async for first in client.workspace_events(after="0", types=["RunTriggered"]):
                self.assertEqual(first.name, "RunTriggered")
                break

    async def test_refusals_and_silence_have_their_types(self) -> None:
        async with AsyncClient(server.url) as client:
            with self.assertRaises(edgewise.NotFound):
                await client.show("r000000000000000")
            with self.assertRaises(edgewise.NotFound):
                [event async for event in client.events("r000000000000000")]
        with self.assertRaises(edgewise.Unreachable):
            await AsyncClient("http://127.0.0.1:1", patience=0.0).flows()

    async def test_a_run_is_cancelled_and_a_gate_spoken_to(self) -> None:
        async with AsyncClient(server.url, who="lead") as client:
            f = flow("gate")
            f.task("ask", approval("lead"))
            run = await client.start(f)
            with self.assertRaises(TimeoutError):
                await run.wait(0.05)
            self.assertTrue(await client.approve(run.id, "ask"))
            self.assertTrue((await run.wait(20)).ok)
            g = flow("satisfied")
            g.task("hook", webhook())
            waiting = await client.start(g)
            self.assertTrue(await client.satisfy(waiting.id, "hook", 7))
            self.assertEqual((await waiting.wait(20)).result(), {"hook": 7})
            other = await client.start(f)
            self.assertTrue(await other.cancel())
            self.assertEqual((await other.wait(20)).state, "Cancelled")


class Building(unittest.TestCase):
    def test_what_the_builder_writes_passes_the_check_and_runs(self) -> None:
        f = flow("built", description="Everything at once.", retry=edgewise.Retry(3, base=0.1, cap="1m"), timeout="10m")
        people = f.input("people", "list", default=["ann", "bob"])
        greet = f.task(
            "greet", shell("printf %s \"$WHO\"", WHO=edgewise.item), each=people, retry=2, tolerate=1, priority=5
        )
        count = f.task("count", shell("echo 2", reads="json"), timeout=edgewise.Timeout(attempt=30, overall="1h"))
        f.task(
            "both",
            shell('printf %s "$TEXT"', TEXT=f"{greet[0]} and {edgewise.literal('${{ not this }}')}"),
            when=edgewise.expr(f"{count.output.text} == 2"),
        )
        f.task("late", shell("true"), after={"both": ["ok", "skipped"]})
        f.task("never", shell("true"), after={"late": "failed"})
        f.output({"greeted": greet, "first": people[0]})
        file = server.folder / "built.yaml"
        file.write_text(f.text())
        checked = server.command("check", str(file))
        self.assertEqual(checked.returncode, 0, checked.stderr)
        run = server.client().start(f, {"people": ["cem", "dora"]})
        self.assertEqual(run.result(20), {"greeted": ["cem", "dora"], "first": "cem"})

    def test_what_is_told_kept_secret_escalated_and_begun_by_itself_is_built(self) -> None:
        f = flow("more", publish=["done", edgewise.Publish("failed", condition="failure", delivery="broadcast")])
        f.input("body", "any", default=None)
        f.on_schedule(cron="0 7 * * 1-5", zone="Europe/Berlin", name="mornings", given={"body": 1})
        f.on_schedule(every="15m", jitter=30, overlap="skip")
        f.on_webhook(into="body")
        key = f.secret("API_KEY")
        scan = f.task("scan", shell("true", KEY=key), publish=edgewise.Publish("scanned", payload={"ok": True}))
        later = [("1d", "boss"), ("2d", ["owner", "board"])]
        f.task("ask", approval("lead", deadline="3d", escalate=later, evidence=[scan]), after=scan)
        f.task("hook", webhook(evidence=["scan"]), after=scan)
        f.task("tell", emit("order.shipped", {"by": "sea"}, delivery="broadcast"), after="ask")
        file = server.folder / "more.yaml"
        file.write_text(f.text())
        checked = server.command("check", str(file))
        self.assertEqual(checked.returncode, 0, checked.stderr)
        made = server.client().register(f)[0]
        self.assertEqual((made["webhook"], len(made["schedules"])), (True, 2))
        plain = f.plain()
        self.assertEqual(plain["tasks"]["ask"]["gate"]["escalate"][1], {"after": "2d", "to": ["owner", "board"]})
        self.assertEqual(plain["secrets"], ["API_KEY"])

    def test_a_name_is_used_once(self) -> None:
        f = flow("twice")
        f.task("a", call("x"))
        with self.assertRaises(ValueError):
            f.task("a", call("x"))

    def test_a_reference_is_not_iterated_over(self) -> None:
        with self.assertRaises(TypeError):
            list(edgewise.item)  # type: ignore[call-overload]
