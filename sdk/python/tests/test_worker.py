"""What workers do: perform, report, keep leases, obey, stop. Each test has actions of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import edgewise
from edgewise import Context, Permanent, Retry, Retryable, Timeout, Worker, call, expr, flow
from edgewise.calls import post

from .server import Server

server: Server
QUICK = Retry(3, base=0.01)


def setUpModule() -> None:
    global server
    server = Server()


def tearDownModule() -> None:
    server.close()


@contextmanager
def working(worker: Worker) -> Iterator[None]:
    """A worker at work in a thread."""
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join()


def one(action: str, retry: Retry = QUICK, **given: Any) -> edgewise.Run:
    """A run of one task."""
    f = flow("one")
    f.output(f.task("a", call(action, **given), retry=retry))
    return server.client().start(f)


def task(run: edgewise.Run, name: str = "a") -> Any:
    """What is shown of a task."""
    return next(shown for shown in run.show()["tasks"] if shown["path"] == name)


class Performing(unittest.TestCase):
    def test_functions_and_coroutines_are_handlers(self) -> None:
        worker = Worker(server.url)

        @worker.task("plain")
        def plain(context: Context) -> Any:
            return {"said": context.input["name"], "attempt": context.attempt}

        @worker.task("coroutine")
        async def coroutine(context: Context) -> Any:
            await asyncio.sleep(0)
            return {"said": context.input["name"], "attempt": context.attempt}

        with working(worker):
            for action in ("plain", "coroutine"):
                self.assertEqual(one(action, name="ann").result(20), {"said": "ann", "attempt": 1})

    def test_a_worker_without_handlers_and_a_second_handler_are_refused(self) -> None:
        worker = Worker(server.url)
        with self.assertRaises(ValueError):
            worker.run()
        worker.task("twice")(lambda context: None)
        with self.assertRaises(ValueError):
            worker.task("twice")(lambda context: None)

    def test_a_claim_that_is_refused_is_raised(self) -> None:
        cases: list[tuple[Worker, type[edgewise.Problem]]] = [
            (Worker(server.url, name="no name at all"), edgewise.Invalid),
            (Worker(edgewise.Client(server.url, token="wrong")), edgewise.Unauthorized),
        ]
        for worker, kind in cases:
            worker.task("x")(lambda context: None)
            with self.assertRaises(kind):
                worker.run()


class Failing(unittest.TestCase):
    def check(self, action: str, error: BaseException, attempts: int, kind: str) -> None:
        worker = Worker(server.url)

        @worker.task(action)
        def fail(context: Context) -> None:
            raise error

        with working(worker):
            run = one(action)
            self.assertEqual(run.wait(20).state, "Error")
        shown = task(run)
        self.assertEqual((shown["attempt"], shown["reason"]["failed"]["type"]), (attempts, kind), shown)

    def test_a_failure_is_tried_again_as_often_as_it_says(self) -> None:
        self.check("fails", ValueError("not now"), 3, "ValueError")
        self.check("retryable", Retryable("not now", type="down"), 3, "down")
        self.check("permanent", Permanent("never"), 1, "Permanent")
        self.check("permanent-typed", Permanent("never", type="gone"), 1, "gone")

    def test_a_wider_type_of_an_exception_is_known_to_the_flow(self) -> None:
        worker = Worker(server.url)

        @worker.task("wider")
        def fail(context: Context) -> None:
            raise FileNotFoundError("no such file")

        with working(worker):
            run = one("wider", Retry(3, base=0.01, never=["OSError"]))
            self.assertEqual(run.wait(20).state, "Error")
        self.assertEqual(task(run)["attempt"], 1)

    def test_a_handler_says_how_long_to_wait(self) -> None:
        worker = Worker(server.url)
        told = threading.Event()

        @worker.task("later")
        def fail(context: Context) -> None:
            told.set()
            raise Retryable("come again in an hour", after=3_600)

        with working(worker):
            run = one("later")
            self.assertTrue(told.wait(20))
            failed = next(event for event in run.events() if event.name == "TaskFinished")
            run.cancel()
        self.assertIn("3600000", str(failed.data))

    def test_an_output_without_a_json_form_fails_for_good(self) -> None:
        worker = Worker(server.url)
        worker.task("unprintable")(lambda context: {"x": {1, 2}})
        worker.task("not-a-number")(lambda context: float("nan"))
        with working(worker):
            for action in ("unprintable", "not-a-number"):
                run = one(action)
                self.assertEqual(run.wait(20).state, "Error")
                self.assertEqual((task(run)["attempt"], task(run)["reason"]["failed"]["type"]), (1, "bad_output"))

    def test_an_output_that_the_server_cannot_read_does_not_take_others_with_it(self) -> None:
        worker = Worker(server.url)
        deep: Any = 1
        for _ in range(500):
            deep = [deep]
        worker.task("deep")(lambda context: deep if context.input["n"] == 3 else context.input["n"])
        f = flow("deep")
        f.task("a", call("deep", n=edgewise.item), each=expr("range(20)"), tolerate=1, retry=QUICK)
        with working(worker):
            output = server.client().start(f).result(20)["a"]
        self.assertEqual([n for n in range(20) if output[n] != n], [3])


    def test_a_failure_that_is_no_text_is_told_all_the_same(self) -> None:
        worker = Worker(server.url)

        @worker.task("half")
        def fail(context: Context) -> None:
            raise ValueError("half a pair: \ud800")

        @worker.task("odd")
        def odd(context: Context) -> None:
            raise Permanent("odd", type="half \ud800")

        with working(worker):
            for action, kind in (("half", "ValueError"), ("odd", "bad_failure")):
                run = one(action, Retry(1))
                self.assertEqual(run.wait(20).state, "Error")
                self.assertEqual(task(run)["reason"]["failed"]["type"], kind)

    def test_an_output_that_no_server_takes_is_not_sent(self) -> None:
        worker = Worker(server.url)
        worker.task("huge")(lambda context: "x" * (40 << 20))
        with working(worker):
            run = one("huge", Retry(1))
            self.assertEqual(run.wait(20).state, "Error")
        self.assertEqual(task(run)["reason"]["failed"]["type"], "output_too_large")


class Leases(unittest.TestCase):
    def test_heartbeats_keep_a_task_that_takes_longer_than_its_lease(self) -> None:
        worker = Worker(server.url, lease=1.0)

        @worker.task("long")
        def long(context: Context) -> str:
            return "cancelled" if context.cancelled.wait(2.5) else "kept"

        with working(worker):
            run = one("long")
            self.assertEqual(run.result(20), "kept")
        self.assertEqual(task(run)["attempt"], 1)

    def test_a_flow_may_ask_for_heartbeats_more_often_than_the_worker_would(self) -> None:
        worker = Worker(server.url)

        @worker.task("often")
        def often(context: Context) -> str:
            return "cancelled" if context.cancelled.wait(2.5) else "kept"

        f = flow("one")
        f.output(f.task("a", call("often"), retry=Retry(1), timeout=Timeout(heartbeat="600ms")))
        with working(worker):
            self.assertEqual(server.client().start(f).result(20), "kept")

    def test_a_cancel_reaches_functions_and_coroutines(self) -> None:
        worker = Worker(server.url, lease=1.0)
        begun, stopped = threading.Event(), threading.Event()

        @worker.task("cancel-plain")
        def plain(context: Context) -> None:
            begun.set()
            context.cancelled.wait(20)
            stopped.set()
            context.check()

        @worker.task("cancel-coroutine")
        async def coroutine(context: Context) -> None:
            begun.set()
            try:
                await asyncio.sleep(20)
            except asyncio.CancelledError:
                stopped.set()
                raise

        with working(worker):
            for action in ("cancel-plain", "cancel-coroutine"):
                run = one(action)
                self.assertTrue(begun.wait(20))
                run.cancel()
                self.assertTrue(stopped.wait(20), action)
                self.assertEqual(run.wait(20).state, "Cancelled")
                begun.clear()
                stopped.clear()

    def test_a_repeated_report_gets_the_first_answer_and_another_one_is_refused(self) -> None:
        client = server.client()
        run = one("repeated")
        wish = {"worker": "test", "actions": ["repeated"], "wait_ms": 20_000}
        lease = client.ask(post("/work/claim", wish))["leases"][0]["lease"]
        for output, status in [("first", 200), ("first", 200), ("second", 409)]:
            told = client.ask(post("/work/complete", {"results": [{"lease": lease, "output": output}]}))
            self.assertEqual(told["results"][0]["status"], status, output)
        self.assertEqual(run.result(20), "first")


class Restarts(unittest.TestCase):
    def test_what_was_done_while_the_server_was_away_is_reported_when_it_is_back(self) -> None:
        own = Server()
        self.addCleanup(own.close)
        worker = Worker(own.url)
        begun, go_on = threading.Event(), threading.Event()

        @worker.task("away")
        def away(context: Context) -> int:
            begun.set()
            go_on.wait(20)
            return context.attempt

        f = flow("away")
        # A second attempt would fail the run: what was reported must be what was done.
        f.output(f.task("a", call("away"), retry=1))
        f.task("b", call("away"), after="a", retry=1)
        run = own.client(patience=30.0).start(f)
        with working(worker), self.assertLogs("edgewise", "WARNING") as said:
            self.assertTrue(begun.wait(20))
            own.kill()
            go_on.set()
            own.restart()
            self.assertEqual(run.result(20), 1)
        self.assertTrue(any("repeated" in line for line in said.output), said.output)


class Process:
    """`tests/paused.py` as a process."""

    def __init__(self, lease: float) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.flag = Path(self._folder.name) / "flag"
        words = [sys.executable, "-m", "tests.paused", server.url, str(self.flag), str(lease)]
        root = Path(__file__).parents[1]
        self.process = subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.out = self.process.stdout

    def until(self, word: str) -> None:
        for line in self.out:
            if word in line:
                return
        raise AssertionError(f"the worker ended without saying {word!r}")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def close(self) -> None:
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.kill()
        self.process.wait()
        self.out.close()
        self._folder.cleanup()


class Stopping(unittest.TestCase):
    def process(self, lease: float) -> Process:
        process = Process(lease)
        self.addCleanup(process.close)
        return process

    def test_a_worker_paused_beyond_its_lease_changes_nothing(self) -> None:
        first = self.process(1.0)
        run = one("paused")
        first.until("begun")
        first.signal(signal.SIGSTOP)
        second = Worker(server.url)
        second.task("paused")(lambda context: f"attempt {context.attempt}")
        with working(second):
            self.assertEqual(run.result(20), "attempt 2")
        first.flag.touch()
        first.signal(signal.SIGCONT)
        # Either its result came too late, or a heartbeat heard first that the attempt is over.
        first.until("dropped")
        self.assertEqual(run.wait(20).output, "attempt 2")
        self.assertEqual(server.command("doctor").returncode, 0)
        first.signal(signal.SIGTERM)
        first.until("stopped")
        self.assertEqual(first.process.wait(20), 0)

    def test_a_worker_told_to_stop_finishes_what_it_began(self) -> None:
        process = self.process(30.0)
        run = one("paused")
        process.until("begun")
        process.signal(signal.SIGTERM)
        process.flag.touch()
        process.until("stopped")
        self.assertEqual(process.process.wait(20), 0)
        self.assertEqual(run.result(20), "the worker that was paused")

    def test_what_never_began_is_given_back_unspent(self) -> None:
        first, second = (Worker(server.url, concurrency=1, name=name) for name in ("first", "second"))
        begun, go_on = threading.Event(), threading.Event()

        @first.task("returned")
        def block(context: Context) -> int:
            # Quick tasks let the worker take many ahead; the slow one then keeps them waiting.
            if context.input["n"] >= 150:
                begun.set()
                go_on.wait(20)
            return 1

        second.task("returned")(lambda context: 2)
        f = flow("returned")
        f.task("a", call("returned", n=edgewise.item), each=expr("range(400)"), retry=Retry(1))
        run = server.client().start(f)
        with working(first):
            self.assertTrue(begun.wait(20))
            first.stop()
            # The lease is 30 seconds long: without being given back, they would not be done in time.
            with working(second):
                finished = (event for event in run.events() if event.name == "TaskFinished")
                for n, _ in enumerate(finished, start=1):
                    if n == 399:
                        go_on.set()
        output = run.result(20)["a"]
        self.assertEqual((len(output), output.count(1) >= 151, output.count(2) > 0), (400, True, True))

    def test_no_lease_is_lost_when_a_worker_stops_while_tasks_arrive(self) -> None:
        client = server.client()
        f = flow("arriving")
        f.task("a", call("arriving"), each=expr("range(20)"), retry=Retry(1))
        runs = []
        for _ in range(10):
            worker = Worker(client)
            worker.task("arriving")(lambda context: None)
            with working(worker):
                runs.append(client.start(f))
        last = Worker(client)
        last.task("arriving")(lambda context: None)
        with working(last):
            for run in runs:
                self.assertTrue(run.wait(20).ok)

    def test_a_handler_beyond_the_grace_is_cut_short_and_its_task_tried_again(self) -> None:
        worker = Worker(server.url, grace=0.2)
        begun = threading.Event()

        @worker.task("cut")
        async def cut(context: Context) -> str:
            if context.attempt == 1:
                begun.set()
                await asyncio.sleep(60)
            return f"attempt {context.attempt}"

        run = one("cut")
        with working(worker):
            self.assertTrue(begun.wait(20))
        again = Worker(server.url)
        again.task("cut")(cut)
        with working(again):
            self.assertEqual(run.result(20), "attempt 2")


    def test_a_function_that_notices_the_cut_and_returns_nothing_has_not_done_its_work(self) -> None:
        worker = Worker(server.url, grace=0.2)
        begun = threading.Event()

        def cut(context: Context) -> str | None:
            if context.attempt > 1:
                return f"attempt {context.attempt}"
            begun.set()
            context.cancelled.wait(60)
            return None

        worker.task("cut-plain")(cut)
        run = one("cut-plain")
        with working(worker):
            self.assertTrue(begun.wait(20))
        again = Worker(server.url)
        again.task("cut-plain")(cut)
        with working(again):
            self.assertEqual(run.result(20), "attempt 2")


class OnALoop(unittest.IsolatedAsyncioTestCase):
    async def test_coroutines_run_on_the_callers_loop(self) -> None:
        worker = Worker(server.url)
        loops = []

        @worker.task("loop")
        async def loop(context: Context) -> None:
            loops.append(asyncio.get_running_loop())
            worker.stop()

        one("loop")
        await worker.run_async()
        self.assertEqual(loops, [asyncio.get_running_loop()])
