"""Many clients of one workbench at once: every answer is right or a refusal, strangers get none, and it stays up.

All of it is on the loopback, against a workbench that is started here and ended here.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from campaign.hostile_inputs import TABLE
from campaign.outcomes import Tally

PATIENCE = 1500
"""Seconds after which an answer counts as none: far longer than any of these takes on a busy machine."""
STRANGE = ("../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%00.csv", "a" * 4000, ".hidden.csv", "con.csv/../x.csv")


@dataclass
class Bench:
    """A running workbench, and the way into it."""

    process: subprocess.Popen[str]
    host: str = ""
    port: int = 0
    base: str = ""
    cookie: str = ""
    answer: object = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def started(cls, folder: Path) -> Bench:
        """Start a workbench in a folder, and exchange its address for a cookie."""
        words = [sys.executable, "-m", "discreet", "workbench", "--no-browser", "--json"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder)
        assert process.stdout is not None
        parts = urlsplit(str(json.loads(process.stdout.readline())["address"]))
        bench = cls(process, parts.hostname or "", parts.port or 0)
        status, _, headers = bench.ask("GET", parts.path, cookie="")
        if status != 303:
            raise SystemExit(f"the workbench answered {status} to its own address")
        bench.base, bench.cookie = headers["location"], headers["set-cookie"].split(";")[0]
        bench.ask("POST", f"{bench.base}api/files?name=table.csv", TABLE.encode())
        bench.answer = bench.risk()
        if bench.answer is None:
            raise SystemExit("the workbench does not work out the risk of a table")
        return bench

    def ask(
        self, method: str, path: str, body: bytes | None = None, cookie: str | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """Send a request, and return status, body and headers."""
        link = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        held = self.cookie if cookie is None else cookie
        try:
            link.request(method, path, body, {"Cookie": held} if held else {})
            answer = link.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            link.close()

    def risk(self) -> object:
        """Return the risk of the table as a command works it out."""
        order = json.dumps({"command": "risk", "values": {"table": "table.csv"}}).encode()
        status, body, _ = self.ask("POST", f"{self.base}api/run?wait=20", order)
        job: dict[str, Any] = json.loads(body) if status == 200 else {}
        while job.get("state") in ("waiting", "running"):
            status, body, _ = self.ask("GET", f"{self.base}api/jobs/{job['job']}?wait=20")
            job = json.loads(body)
        found = job.get("result")
        return found.get("value") if isinstance(found, dict) else found

    def close(self) -> None:
        """End the workbench."""
        # Leaving closes the pipe.
        with self.process:
            self.process.terminate()


def load(folder: Path, clients: int, requests: int, seed: int) -> Tally:
    """Let so many clients send so many requests in all."""
    tally, bench = Tally(), Bench.started(folder)
    try:
        threads = [
            threading.Thread(
                target=_client, args=(bench, tally, requests // clients, random.Random(f"{seed} {number}"))
            )
            for number in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alive = bench.process.poll() is None and bench.risk() == bench.answer
        tally.note("requests afterwards", "" if alive else "the workbench no longer answers as before")
    finally:
        bench.close()
    return tally


def _client(bench: Bench, tally: Tally, requests: int, draw: random.Random) -> None:
    for _ in range(requests):
        name = draw.choice(list(REQUESTS))
        try:
            wrong = REQUESTS[name](bench, draw)
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            wrong = f"no answer ({type(error).__name__}: {error})"
        with bench.lock:
            tally.note(f"requests: {name}", wrong)


def _page(bench: Bench, draw: random.Random) -> str:
    status, body, _ = bench.ask("GET", f"{bench.base}api/start")
    return "" if status == 200 and "commands" in json.loads(body) else f"answered {status}"


def _work(bench: Bench, draw: random.Random) -> str:
    found = bench.risk()
    return "" if found == bench.answer and found is not None else f"another answer: {str(found)[:100]}"


def _upload(bench: Bench, draw: random.Random) -> str:
    name = f"t{draw.randrange(40)}.csv"
    rows = "".join(f"{place},{draw.randrange(99)}\n" for place in "abcdef")
    status, _, _ = bench.ask("POST", f"{bench.base}api/files?name={name}", f"area,count\n{rows}".encode())
    return "" if status == 200 else f"an upload was answered with {status}"


def _bad_upload(bench: Bench, draw: random.Random) -> str:
    name, body = draw.choice([("x.toml", b"limits = 5"), ("x.csv", b""), ("x.exe", b"MZ"), ("x.toml", b"\xff\xfe[")])
    status, _, _ = bench.ask("POST", f"{bench.base}api/files?name={name}", body)
    return "" if status == 400 else f"{name} was answered with {status}"


def _escape(bench: Bench, draw: random.Random) -> str:
    name = draw.choice(STRANGE)
    way = draw.choice(("api/files/", "api/view/", "api/sheets/", "static/"))
    status, body, _ = bench.ask("GET", f"{bench.base}{way}{name}")
    return "" if status in (400, 404, 405) and b"root:" not in body else f"{way}{name[:40]} was answered with {status}"


def _nonsense(bench: Bench, draw: random.Random) -> str:
    body = draw.choice([b"{", b"[]", b'{"command": "rm"}', b'{"command": "risk", "values": 3}', b"\0" * 100, b'"x"'])
    status, _, _ = bench.ask("POST", f"{bench.base}api/run", body)
    return "" if status == 400 else f"{body[:40]!r} was answered with {status}"


def _stranger(bench: Bench, draw: random.Random) -> str:
    path = draw.choice([bench.base, "/", f"{bench.base}api/start", "/open/guess", f"{bench.base}api/files/table.csv"])
    status, body, _ = bench.ask("GET", path, cookie=draw.choice(["", "discreet=guess"]))
    return "" if status == 403 and b"area" not in body else f"a stranger was answered with {status}"


REQUESTS: dict[str, Callable[[Bench, random.Random], str]] = {
    "page": _page,
    "command": _work,
    "upload": _upload,
    "bad upload": _bad_upload,
    "path outside": _escape,
    "nonsense": _nonsense,
    "stranger": _stranger,
}
