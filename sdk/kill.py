"""kill -9 under load: server and workers of both SDKs are killed by process id while they do some thousand tasks.

    python3 sdk/kill.py [--tasks N] [--only python|typescript]

Each attempt that a worker performs is a line in a file, past every engine. In the end every run is complete, no
attempt was performed twice, each task's output is from the attempt that the run says, which was performed, and
`edgewise doctor` finds nothing.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SDK = Path(__file__).parent
sys.path.insert(0, str(SDK / "python"))

from edgewise import Retry, Run, call, expr, flow  # noqa: E402
from tests.server import Server  # noqa: E402

COMMANDS = {
    "python": ([sys.executable, "-m", "tests.effects"], SDK / "python"),
    "typescript": (["node", "dist/test/effects.js"], SDK / "typescript"),
}
WIDTH = 200


class Load:
    """A server, workers, runs, and the file that tells what was performed."""

    def __init__(self, kinds: list[str], tasks: int, folder: str) -> None:
        self.server = Server()
        self.tale = Path(folder) / "tale"
        self.tale.touch()
        self.tasks = tasks
        self.kinds = [kind for kind in kinds for _ in range(4 // len(kinds))]
        self.workers = [self.spawn(kind) for kind in self.kinds]
        effects = flow("effects")
        effects.task("e", call("effect"), each=expr(f"range({WIDTH})"), retry=Retry(50, base=0.01, cap=0.1))
        client = self.server.client(patience=60.0)
        self.runs: list[Run] = [client.start(effects, key=f"run-{n}") for n in range(tasks // WIDTH)]

    def spawn(self, kind: str) -> subprocess.Popen[bytes]:
        words, folder = COMMANDS[kind]
        return subprocess.Popen([*words, self.server.url, str(self.tale)], cwd=folder, stderr=subprocess.DEVNULL)

    def until(self, lines: int) -> None:
        """Waits until so much was performed."""
        until = time.monotonic() + 120
        while self.tale.read_bytes().count(b"\n") < lines:
            if time.monotonic() > until:
                raise SystemExit(f"stuck: {self.tale.read_bytes().count(10)} of {self.tasks} tasks after two minutes")
            time.sleep(0.01)

    def kill(self, rounds: int) -> None:
        """Kills in turns: a worker, the server, a worker, both."""
        turns = itertools.cycle(range(len(self.workers)))
        for n in range(rounds):
            self.until(self.tasks * (n + 1) // (rounds + 2))
            if n % 4 != 1:
                at = next(turns)
                self.workers[at].kill()
                self.workers[at].wait()
                self.workers[at] = self.spawn(self.kinds[at])
            if n % 2 == 1:
                self.server.kill()
                self.server.restart()

    def close(self) -> None:
        for worker in self.workers:
            worker.terminate()
        codes = [worker.wait() for worker in self.workers]
        assert not any(codes), f"workers that were told to stop ended with {codes}"

    def check(self) -> Counter[str]:
        """Holds what the runs say against what was performed."""
        performed = [tuple(line.split()) for line in self.tale.read_text().splitlines()]
        twice = [line for line, count in Counter(performed).items() if count > 1]
        assert not twice, f"attempts that were performed twice: {twice[:5]}"
        attempts: dict[str, set[int]] = {}
        for key, attempt in performed:
            attempts.setdefault(key, set()).add(int(attempt))
        assert len(attempts) == self.tasks, f"{len(attempts)} of {self.tasks} tasks were performed"
        seen: Counter[str] = Counter(tasks=self.tasks, performed=len(performed))
        for run in self.runs:
            end = run.wait(60)
            assert end.ok, f"run {run.id} ended as {end.state}"
            for task in run.show()["tasks"]:
                if "[" not in task["path"]:
                    continue
                key = f"{run.id}/{task['path']}/{task['generation']}"
                assert task["output"] == task["attempt"], f"{key} is from attempt {task['output']}: {task}"
                assert task["attempt"] in attempts[key], f"attempt {task['attempt']} of {key} was never performed"
                assert max(attempts[key]) <= task["attempt"], f"{key} was performed after its end"
                seen["tried again"] += task["attempt"] > 1
        return seen


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--only", choices=list(COMMANDS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        load = Load([arguments.only] if arguments.only else list(COMMANDS), arguments.tasks, folder)
        try:
            load.kill(arguments.rounds)
            for run in load.runs:
                run.wait(120)
            load.close()
            print(dict(load.check()))
            doctor = load.server.command("doctor")
            assert doctor.returncode == 0, doctor.stdout + doctor.stderr
        finally:
            for worker in load.workers:
                worker.kill()
            load.server.close()


if __name__ == "__main__":
    main()
