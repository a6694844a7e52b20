"""What the README says is done here as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from .server import Server

README = Path(__file__).parents[1] / "README.md"


class Example(unittest.TestCase):
    def test_the_example_of_the_readme_prints_what_it_says(self) -> None:
        text = README.read_text()
        (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        server = Server()
        self.addCleanup(server.close)
        done = subprocess.run(
            [sys.executable, "-c", example],
            cwd=README.parent,
            env={**os.environ, "EDGEWISE_ADDR": server.url},
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"It prints `{done.stdout.strip()}`", text)
