"""Workers that are called: what is signed is believed, what is asked is done, by the real server."""

from __future__ import annotations

import json
import threading
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
        body = {"name": "greeter", "url": url, "actions": ["greet", "dance"]}
        made = server.client().ask(post("/workers", body))
        worker._secrets.append(made["secret"])
        for action, name, kind in [("greet", "ann", None), ("greet", "", "no_name"), ("dance", "ann", "unknown_action")]:
            f = flow("one")
            f.output(f.task("a", call(action, name=name), retry=Retry(1)))
            run = server.client().start(f)
            if kind is None:
                self.assertEqual(run.result(timeout=30), {"said": "hello, ann"})
                continue
            run.wait(timeout=30)
            self.assertIn(kind, json.dumps(run.show()))
        headers, sent = seen[0]
        self.assertEqual(answer(headers, sent)[0], 409, "the same request again is recognised")
        self.assertEqual(answer({**headers, "webhook-id": "other"}, sent)[0], 401)


if __name__ == "__main__":
    unittest.main()
