"""Connections that are slow, cut off or never end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import MutableMapping
from typing import Any

import pytest
from tests.workbench.serving import Server, serving

from discreet.workbench import guard

SERVE = """
import sys
from discreet.cli.app import perform, tree
from discreet.workbench import connections, guard
from discreet.workbench.server import serve
if __name__ == "__main__":
    connections.PATIENCE = guard.PATIENCE = 0.4
    serve(tree(), perform, ready=lambda address: print(address, flush=True))
"""


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Any:
    script = tmp_path_factory.mktemp("script") / "serve.py"
    script.write_text(SERVE)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield int(process.stdout.readline().split(":")[2].split("/")[0])
    process.terminate()
    process.communicate()


def said(link: socket.socket, words: bytes) -> bytes:
    """Say something and return the answer, nothing if the other side hangs up."""
    with contextlib.suppress(ConnectionError):
        link.sendall(words)
        return link.recv(1000)
    return b""


@pytest.mark.parametrize(
    "words", [b"", b"GET / HT", b"GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-", b"GET /x HTTP/1.1\r\n"]
)
def test_a_request_that_does_not_begin_is_hung_up_on(hurried: int, words: bytes) -> None:
    with socket.create_connection(("127.0.0.1", hurried), timeout=60) as link:
        assert said(link, words) == b""


def test_a_slow_second_request_is_hung_up_on_too(hurried: int) -> None:
    answer = b""
    while not answer:
        # On a busy machine the first request may come too late as well.
        with socket.create_connection(("127.0.0.1", hurried), timeout=60) as link:
            answer = said(link, f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:{hurried}\r\n\r\n".encode())
            if answer:
                assert b" 403 " in answer
                more = said(link, b"GET /x HTTP/1.1\r\nHo")
                while more:
                    more = said(link, b"")


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    keys = guard.Keys()
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            while True:
                seen.append((await receive())["body"])
        except guard.TooSlowError as error:
            seen.append(str(error))

    async def receive() -> MutableMapping[str, Any]:
        if not seen:
            return {"type": "http.request", "body": b"abc", "more_body": True}
        await asyncio.sleep(3600)
        raise AssertionError

    async def send(message: Any) -> None:
        raise AssertionError(message)

    held = guard.Guard(app, keys=keys, hosts=lambda: {"h"}, largest=1000)
    headers = [(b"host", b"h"), (b"cookie", f"discreet={keys.cookie}".encode())]
    scope = {"type": "http", "method": "POST", "path": f"/{keys.path}/api/files", "headers": headers}
    asyncio.run(held(scope, receive, send))
    assert seen[0] == b"abc"
    assert "only 3 bytes came" in seen[1]


def test_uploads_go_to_disk_and_vanish_when_they_are_cut_off() -> None:
    with serving() as server:
        _cut_off(server)


def _cut_off(server: Server) -> None:
    head = f"POST {server.base}api/files?name=cut.csv HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n"
    head += f"Cookie: {server.cookie}\r\nContent-Length: 40000000\r\n\r\n"
    written = threading.Event()

    def look() -> None:
        while not any(path.stat().st_size > 2**20 for path in server.folder.glob(".incoming-*")):
            pass
        written.set()

    with socket.create_connection((server.host, server.port), timeout=60) as link:
        link.sendall(head.encode())
        link.sendall(b"a,count\n" + b"x,1\n" * 2**20)
        looking = threading.Thread(target=look, daemon=True)
        looking.start()
        looking.join(60)
        assert written.is_set()
    while list(server.folder.glob(".incoming-*")):
        pass
    assert "cut.csv" not in [one["name"] for one in server.json("GET", "api/files")["files"]]
