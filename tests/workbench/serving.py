"""A workbench in a process of its own, and somebody who talks to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlsplit

from tests import measuring
from tests.workbench.patient import HELD, HOLD

STATE = Path(tempfile.gettempdir()) / f"discreet-tests-{os.getuid()}"
"""Where workbenches of the tests keep the key by which they seal sessions."""


class Server:
    """A running workbench."""

    def __init__(self, *arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
        command = [*measuring.workbench(), "--no-browser", "--json"]
        self.process = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "XDG_STATE_HOME": str(STATE), **(env or {})},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        self.printed = str(json.loads(line)["address"])
        parts = urlsplit(self.printed)
        assert parts.hostname is not None
        assert parts.port is not None
        self.host, self.port = parts.hostname, parts.port
        self.cookie = ""
        status, _, headers = self.ask("GET", "", base=parts.path)
        assert status == 303
        self.base, self.cookie = headers["location"], headers["set-cookie"].split(";")[0]

    @property
    def address(self) -> str:
        """An address that opens the page once, in another browser."""
        return str(self.json("POST", "api/address")["address"])

    @property
    def folder(self) -> Path:
        """Where its files are."""
        (found,) = Path(tempfile.gettempdir()).glob(f"discreet-workbench-{self.process.pid}-*")
        return found

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        base: str | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[int, bytes, dict[str, str]]:
        """Send a request and return status, body and headers."""
        link = http.client.HTTPConnection(self.host, self.port, timeout=60)
        try:
            held = {"Cookie": self.cookie} if self.cookie else {}
            link.request(method, (self.base if base is None else base) + path, body, {**held, **headers})
            answer = link.getresponse()
            return answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()}
        finally:
            link.close()

    def json(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request that must be answered with JSON."""
        status, content, _ = self.ask(method, path, None if body is None else json.dumps(body).encode())
        return {**json.loads(content), "status": status}

    def upload(self, name: str, content: bytes) -> Any:
        """Open a file."""
        status, answer, _ = self.ask("POST", f"api/files?name={quote(name)}", content)
        return {**json.loads(answer), "status": status}

    def run(self, command: str, wait: float = 20, session: str | None = None, **values: Any) -> Any:
        """Run a command, in a session if one is named, and wait for it."""
        order = {"command": command, "values": values, **({} if session is None else {"session": session})}
        job = self.json("POST", f"api/run?wait={wait}", order)
        return self.ended(job) if wait else job

    def ended(self, job: Any) -> Any:
        """Wait until a job is over, however busy the machine is."""
        while job.get("state") in ("waiting", "running"):
            job = self.json("GET", f"api/jobs/{job['job']}?wait=20")
        return job

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have the protection ``patient`` wait."""
        (self.folder / HELD).unlink(missing_ok=True)
        (self.folder / HOLD).touch()
        try:
            yield
        finally:
            (self.folder / HOLD).unlink()

    def holder(self) -> int:
        """Wait until the protection ``patient`` waits, and return the process in which it does."""
        path = self.folder / HELD
        while not path.exists() or not path.read_text(encoding="utf-8").endswith("\n"):
            time.sleep(0.02)
        return int(path.read_text(encoding="utf-8"))

    def close(self) -> tuple[str, str]:
        """Stop it as Ctrl+C does, and return what it printed."""
        if self.process.poll() is not None:
            # It was killed; what it started may hold the pipes for a while.
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()
            return "", ""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@contextmanager
def serving(*arguments: object, **about: Any) -> Iterator[Server]:
    """Start a workbench, and stop it afterwards."""
    server = Server(*arguments, **about)
    try:
        yield server
    finally:
        server.close()


LONG = ("random-rounding:base=3", "random-rounding:base=5", "table-swapping:rate=0.1")


def crowd(server: Server, table: str, methods: Sequence[str] = LONG) -> list[float]:
    """Return the seconds that 19 people wait for a risk, three times each, while one waits for a long comparison."""
    job = server.run("compare", wait=0, file=table, draws=20_000, method=list(methods))
    taken: list[float] = []

    def work() -> None:
        for _ in range(3):
            begun = time.perf_counter()
            assert server.run("risk", table=table)["state"] == "done"
            taken.append(time.perf_counter() - begun)

    people = [threading.Thread(target=work) for _ in range(19)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    assert len(taken) == 57
    assert server.json("GET", f"api/jobs/{job['job']}")["state"] == "running"
    server.json("DELETE", f"api/jobs/{job['job']}")
    return taken
