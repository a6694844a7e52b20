"""The real server, as a process in a folder of its own at a port that the system chose."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

from edgewise import Client

BINARY = os.environ.get("EDGEWISE_BIN") or str(Path(__file__).parents[3] / "target/debug/edgewise")


class Server:
    """A server that can be killed and started again at the same place."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self._folder = tempfile.TemporaryDirectory(prefix="edgewise-sdk-")
        self.folder = Path(self._folder.name)
        self._address = "127.0.0.1:0"
        self._process = self._spawn()

    @property
    def url(self) -> str:
        return f"http://{self._address}"

    def client(self, **how: float) -> Client:
        return Client(self.url, **how)  # type: ignore[arg-type]

    def kill(self) -> None:
        """Ends it as a loss of power would."""
        self._process.kill()
        self._ended()

    def restart(self) -> None:
        """Starts it again, at the same address with the same data."""
        self._process = self._spawn()

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self._ended()
        self._folder.cleanup()

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Another command in the same folder."""
        words = (BINARY, *words)
        return subprocess.run(words, cwd=self.folder, env=self._environment(), capture_output=True, text=True)

    def _ended(self) -> None:
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _spawn(self) -> subprocess.Popen[str]:
        words = [BINARY, "serve", "--addr", self._address, *self._words]
        process = subprocess.Popen(
            words, cwd=self.folder, env=self._environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith("listening at http://"):
            raise RuntimeError(f"the server did not start: {line!r}")
        self._address = line.strip().removeprefix("listening at http://")
        return process

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("EDGEWISE_")}
        return {**kept, "EDGEWISE_DIR": str(self.folder / ".edgewise")}
