"""What the README says is done here as it stands."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from edgewise import call, flow

from .server import Server

README = Path(__file__).parents[1] / "README.md"
PROJECT = Path(__file__).parents[3] / "README.md"
GUIDE = Path(__file__).parents[3] / "docs/guide/sdk.md"


def block(text: str) -> str:
    (found,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return str(found)


class Example(unittest.TestCase):
    def test_the_example_of_the_readme_prints_what_it_says(self) -> None:
        text = README.read_text()
        server = Server()
        self.addCleanup(server.close)
        done = subprocess.run(
            [sys.executable, "-c", block(text)],
            cwd=README.parent,
            env={**os.environ, "EDGEWISE_ADDR": server.url},
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"It prints `{done.stdout.strip()}`", text)

    def test_the_worker_of_the_projects_readme_performs_a_task(self) -> None:
        server = Server()
        self.addCleanup(server.close)
        text = block(PROJECT.read_text())
        self.assertIn("http://127.0.0.1:7420", text)
        text = text.replace("http://127.0.0.1:7420", server.url)
        worker = subprocess.Popen([sys.executable, "-c", text], cwd=README.parent)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.send_signal, signal.SIGINT)
        f = flow("halve")
        f.output(f.task("half", call("resize", width=640)))
        self.assertEqual(server.client().start(f).result(timeout=60), {"width": 320})

    def test_the_flow_of_the_guide_passes_the_check(self) -> None:
        server = Server()
        self.addCleanup(server.close)
        written = subprocess.run(
            [sys.executable, "-c", block(GUIDE.read_text())], cwd=README.parent, capture_output=True, text=True
        )
        file = server.folder / "release.yaml"
        file.write_text(written.stdout)
        checked = server.command("check", str(file))
        self.assertEqual(checked.returncode, 0, written.stderr + checked.stdout + checked.stderr)
