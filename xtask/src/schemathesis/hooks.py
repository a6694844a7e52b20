"""What schemathesis cannot know: what there is, and that nobody need wait.

Things are made first, so that addresses are asked about what exists: of runs one that waits for a worker, one that
waits for a person, and two that are over; of everything else one that stays, and a new one for each request that
takes one away.
"""

import itertools
import json
import os
import urllib.request

import schemathesis

URL = os.environ["EDGEWISE_URL"]
WORKER = "flow: greet\non: { webhook: {} }\ntasks:\n  hello: { action: greet, retry: 3 }\n"
GATED = "flow: gated\ntasks:\n  hello: { gate: { approval: { from: [local] } } }\n"
OVER = "flow: over\nnamespace: shop\ntasks:\n  hello: { gate: { timer: 1ms } }\n  told: { after: [hello], emit: done }\n"
FLOWS = ("greet", "gated", "over")
NUMBERS = itertools.count(1)


def post(path, body):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def start(source):
    return post("/api/v1/runs", {"source": source})["run"]


def item():
    return post("/api/v1/items", {"title": f"item {next(NUMBERS)}"})["id"]


def gate():
    return post("/api/v1/gates", {"gateType": "webhook"})["id"]


def approval():
    return post("/api/v1/gates", {"gateType": "approval", "requiredApprovers": ["local"]})["id"]


def schedule():
    name = f"schedule-{next(NUMBERS)}"
    post("/api/v1/schedules", {"name": name, "flow": "over", "cron": "@yearly"})
    return name


def token():
    name = f"token-{next(NUMBERS)}"
    post("/api/v1/tokens", {"name": name, "role": "viewer"})
    return name


def webhook():
    return post("/api/v1/webhooks", {"namespace": "shop", "url": "http://127.0.0.1:9/"})["id"]


def worker():
    name = f"worker-{next(NUMBERS)}"
    post("/api/v1/workers", {"name": name, "url": "http://127.0.0.1:9/", "actions": ["nobody/does"]})
    return name


def queue():
    name = f"queue-{next(NUMBERS)}"
    post(f"/api/v1/queues/{name}", {"slots": 2})
    return name


RUNS = [start(source) for source in (WORKER, GATED, OVER)]
# Nobody acts on this one, so it stays over, and so its stream ends.
DONE = start(OVER)
urllib.request.urlopen(f"{URL}/api/v1/runs/{DONE}/end?wait_ms=10000").close()
for text in (WORKER, GATED, OVER):
    post("/api/v1/flows", {"source": text})

MAKE = {
    "item": item,
    "gate": gate,
    "schedule": schedule,
    "token": token,
    "webhook": webhook,
    "worker": worker,
    "queue": queue,
}
KEPT = {noun: [make(), make()] for noun, make in MAKE.items()}
KEPT["flow"] = list(FLOWS)
KEPT["namespace"] = ["shop", "work"]
# What takes something away, or decides it for good.
ENDS = ("/remove", "/revoke", "/delete", "/unset", "/approve", "/reject", "/withdraw", "/satisfy", "/close")

# What stands in a body, where any text would do for the document.
GOOD = {"lease": "10m", "expires": "1d", "how": "done", "when": "any", "role": "viewer", "older_than": "1d"}


def exists(noun, path, turn):
    """Something that is there: its own, if it is not there afterwards."""
    if noun in MAKE and path.endswith(ENDS):
        return approval() if noun == "gate" and not path.endswith("/satisfy") else MAKE[noun]()
    return KEPT[noun][turn % len(KEPT[noun])]


def fill(body, turn):
    """Names of what exists in what is sent."""
    if isinstance(body.get("wait_ms"), int):
        body["wait_ms"] = 0
    if isinstance(body.get("task"), str) and turn % 2 == 0:
        body["task"] = "hello"
    if isinstance(body.get("source"), str) and turn % 2 == 0:
        body["source"] = (WORKER, GATED, OVER)[turn % 3]
    if isinstance(body.get("flow"), str) and turn % 2 == 0:
        body["flow"] = FLOWS[turn % 3]
    for key, good in GOOD.items():
        if isinstance(body.get(key), str) and turn < 4:
            body[key] = good
    for key in ("on", "parent", "repliesTo"):
        if isinstance(body.get(key), str) and turn < 4:
            body[key] = KEPT["item"][turn % 2]


@schemathesis.hook
def before_call(context, case, kwargs):
    known = case.path_parameters
    # Two of three requests are about something that exists; a stream of what is not over would not end.
    turn = hash(str(known) + str(case.body)) % 6
    if isinstance(known, dict) and turn < 4:
        for noun in known:
            if noun == "run":
                known[noun] = DONE if case.path.endswith("/events") else RUNS[turn % 3]
            elif noun == "task":
                known[noun] = "hello"
            elif noun in KEPT and not case.path.endswith("/events"):
                known[noun] = exists(noun, case.path, turn)
    if isinstance(case.body, dict):
        fill(case.body, turn)
    if isinstance(case.query, dict) and str(case.query.get("wait_ms", "")).isdigit():
        case.query["wait_ms"] = "0"
