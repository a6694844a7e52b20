"""Workers that are called: what is signed is believed, what is asked is done, by the real server."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
import threading
import time
import unittest
from typing import Any

from edgewise import Context, NotSigned, Permanent, PushWorker, Retry, call, flow, verify
from edgewise.calls import post

from .server import Server

#: The example that the libraries of Standard Webhooks are tested with.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SIGNED = {
    "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "Webhook-Timestamp": "1614265330",
    "Webhook-Signature": "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
BODY = b'{"test": 2432232314}'
NOW = 1614265330.0


class Signatures(unittest.TestCase):
    def test_only_the_very_message_at_about_its_time_is_believed(self) -> None:
        self.assertEqual(verify(SECRET, SIGNED, BODY, now=NOW), SIGNED["Webhook-Id"])
        self.assertEqual(verify(["whsec_AAAA", SECRET], SIGNED, BODY, now=NOW + 300), SIGNED["Webhook-Id"])
        bad: list[tuple[Any, dict[str, str], bytes, float]] = [
            ("whsec_AAAA", SIGNED, BODY, NOW),
            (SECRET, SIGNED, b"{}", NOW),
            (SECRET, {**SIGNED, "Webhook-Id": "msg_other"}, BODY, NOW),
            (SECRET, {**SIGNED, "Webhook-Timestamp": "1614265331"}, BODY, NOW),
            (SECRET, {**SIGNED, "Webhook-Timestamp": "soon"}, BODY, NOW),
            (SECRET, {**SIGNED, "Webhook-Signature": ""}, BODY, NOW),
            (SECRET, {}, BODY, NOW),
            (SECRET, SIGNED, BODY, NOW + 301),
            (SECRET, SIGNED, BODY, NOW - 301),
        ]
        for secret, headers, body, now in bad:
            with self.subTest(headers=headers, now=now), self.assertRaises(NotSigned):
                verify(secret, headers, body, now=now)


class Called(unittest.TestCase):
    def test_a_worker_that_is_called_does_what_the_server_asks(self) -> None:
        server = Server()
        self.addCleanup(server.close)
        (server.folder / "edgewise.toml").write_text('http_allow = ["127.0.0.1"]\n')
        server.kill()
        server.restart()
        # The secret comes with the worker, which needs to know where it is called.
        worker = PushWorker([])
        seen: list[tuple[dict[str, str], bytes]] = []

        @worker.task("wave")
        async def wave(context: Context) -> dict[str, str]:
            await asyncio.sleep(0)
            if context.input["name"] == "eve":
                raise Permanent("not to her", type="no_wave")
            return {"waved": context.input["name"]}

        @worker.task("greet")
        def greet(context: Context) -> dict[str, str]:
            if not context.input["name"]:
                raise Permanent("nobody to greet", type="no_name")
            return {"said": f"hello, {context.input['name']}"}

        answer = worker.answer

        def noted(headers: Any, body: bytes) -> tuple[int, str]:
            seen.append((headers, body))
            return answer(headers, body)

        worker.answer = noted  # type: ignore[method-assign]
        target = worker.serve()
        self.addCleanup(target.server_close)
        self.addCleanup(target.shutdown)
        threading.Thread(target=target.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{target.server_address[1]}/"
        body = {"name": "greeter", "url": url, "actions": ["greet", "wave", "dance"]}
        made = server.client().ask(post("/workers", body))
        worker._secrets.append(made["secret"])
        cases = [
            ("greet", "ann", {"said": "hello, ann"}),
            ("greet", "", "no_name"),
            ("wave", "ann", {"waved": "ann"}),
            ("wave", "eve", "no_wave"),
            ("dance", "ann", "unknown_action"),
        ]
        for action, name, end in cases:
            f = flow("one")
            f.output(f.task("a", call(action, name=name), retry=Retry(1)))
            run = server.client().start(f)
            if isinstance(end, dict):
                self.assertEqual(run.result(timeout=30), end)
                continue
            run.wait(timeout=30)
            self.assertIn(end, json.dumps(run.show()))
        headers, sent = seen[0]
        self.assertEqual(answer(headers, sent)[0], 409, "the same request again is recognised")
        self.assertEqual(answer({**headers, "webhook-id": "other"}, sent)[0], 401)

    def test_within_an_event_loop_coroutines_run_on_it_and_functions_on_threads(self) -> None:
        worker = PushWorker(SECRET)
        places: dict[str, object] = {}

        @worker.task("co")
        async def co(context: Context) -> str:
            places["co"] = threading.current_thread()
            return "co"

        @worker.task("plain")
        def plain(context: Context) -> str:
            places["plain"] = threading.current_thread()
            return "plain"

        async def both() -> list[tuple[int, str]]:
            return [await worker.answer_async(*signed(action)) for action in ("co", "plain", "nobody")]

        answers = [(status, json.loads(text)) for status, text in asyncio.run(both())]
        self.assertEqual([told.get("output") for _, told in answers[:2]], ["co", "plain"])
        self.assertEqual(answers[2][1]["error"]["type"], "unknown_action")
        main = threading.current_thread()
        self.assertEqual((places["co"] is main, places["plain"] is main), (True, False))


    def test_a_request_that_does_not_say_how_long_it_is_is_not_read(self) -> None:
        target = PushWorker(SECRET).serve()
        self.addCleanup(target.server_close)
        self.addCleanup(target.shutdown)
        threading.Thread(target=target.serve_forever, args=(0.01,), daemon=True).start()
        bad = ["-1", "+5", "1_0", "much", "9" * 5_000]
        said = [*((length, 400) for length in bad), (str((32 << 20) + 1), 413), ("0", 401)]
        for length, status in said:
            with self.subTest(length), socket.create_connection(("127.0.0.1", target.server_address[1]), 30) as caller:
                caller.sendall(f"POST / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n".encode())
                # Without an end of what is sent: whoever waits for one never answers.
                self.assertEqual(caller.makefile("rb").readline().split()[1], str(status).encode())


def signed(action: str) -> tuple[dict[str, str], bytes]:
    """A request as the server would make it."""
    lease = {"lease": "l", "input": None, "action": action, "run": "r", "task": "t", "attempt": 1, "max_attempts": 1}
    body = json.dumps({**lease, "key": "k"}).encode()
    now = str(int(time.time()))
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.new(key, f"{action}.{now}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(digest).decode()
    return {"webhook-id": action, "webhook-timestamp": now, "webhook-signature": signature}, body


if __name__ == "__main__":
    unittest.main()
