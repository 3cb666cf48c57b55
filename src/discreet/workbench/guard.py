"""Who may talk to the workbench: the browser that opened it, on this machine, and nobody else."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


COOKIE = "discreet"
SESSION = re.compile(r"session=[A-Za-z0-9-]{1,40}")
PATIENCE, SLOWEST = 30.0, 16 * 2**10
"""A body must arrive within this many seconds, plus one for every so many bytes: slower than any link in use."""


class TooLargeError(Exception):
    """More was sent than is accepted; the application answers it."""


class TooSlowError(Exception):
    """The announced content did not arrive; the application answers it."""


class Keys:
    """What opens the workbench: one-time codes, and what the page gets in exchange.

    An address on a command line can be read by everybody on this machine, so it holds a code that is worth nothing once
    it was used. The page lives at a path that nobody can guess, and its cookie is sent to that path alone, so it does
    not travel to other servers of this machine. Both are needed.
    """

    def __init__(self) -> None:
        """Draw the page's secrets."""
        self.path, self.cookie = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self._codes: set[str] = set()

    def code(self) -> str:
        """Return a new code."""
        made = secrets.token_urlsafe(24)
        self._codes.add(made)
        return made

    def exchange(self, code: str) -> str | None:
        """Take a code back and return the cookie for it; none if it was used before, or never given."""
        known = next((one for one in self._codes if secrets.compare_digest(one.encode(), code.encode())), None)
        if known is None:
            return None
        self._codes.remove(known)
        return f"{COOKIE}={self.cookie}; Path=/{self.path}/; HttpOnly; SameSite=Strict"

    def fit(self, path: str, cookies: str) -> bool:
        """Say whether a request comes from the page."""
        given = dict(part.strip().partition("=")[::2] for part in cookies.split(";"))
        both = f"{path} {given.get(COOKIE, '')}"
        return secrets.compare_digest(both.encode(), f"{self.path} {self.cookie}".encode())


class Guard:
    """Lets requests of the page through, from this host and this origin, of bounded size and bounded slowness.

    A name other than the loopback's in the header ``Host`` is that of a foreign page whose name was made to point here.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys, hosts: Callable[[], set[str]], largest: int) -> None:
        self._app, self._keys, self._hosts, self._largest = app, keys, hosts, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on with the secret part taken off its path."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refused = self._foreign(headers)
        if refused is not None:
            return await _refuse(send, *refused)
        first, _, rest = scope["path"].lstrip("/").partition("/")
        if first == "open" and scope["method"] == "GET":
            return await self._open(rest, scope["query_string"].decode("latin-1"), send)
        if not self._keys.fit(first, headers.get("cookie", "")):
            return await _refuse(send, 403, "this page is open to the browser alone that opened the printed address")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > self._largest:
            return await _refuse(send, 413, f"more than {self._largest // 2**20} MiB at once are not taken")
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self._app(inner, self._counted(receive), _sealed(send))

    def _foreign(self, headers: dict[str, str]) -> tuple[int, str] | None:
        """Say why a request is refused, whatever it asks for; None if it is allowed."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self._hosts():
            return 421, "this server answers on its own address only"
        if origin is not None and origin != f"http://{host}":
            return 403, "requests from other origins are not answered"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "requests from other sites are not answered"
        return None

    async def _open(self, code: str, query: str, send: Send) -> None:
        """Exchange a code for the page, of the session that the address names if it names one."""
        cookie = self._keys.exchange(code.strip("/"))
        if cookie is None:
            told = "this address opens the workbench once, and was used; start it again, or ask for another on the page"
            return await _refuse(send, 403, told)
        named = f"?{query}" if SESSION.fullmatch(query) else ""
        given = {"location": f"/{self._keys.path}/{named}", "set-cookie": cookie, "content-length": "0"}
        headers = [(name.encode(), value.encode()) for name, value in {**given, **HEADERS}.items()]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _counted(self, receive: Receive) -> Receive:
        """Count what is sent without a length, and wait for it only so long."""
        taken, begun, whole = 0, time.monotonic(), False

        async def counted() -> Message:
            nonlocal taken, whole
            if whole:
                return await receive()
            left = begun + PATIENCE + taken / SLOWEST - time.monotonic()
            try:
                message = await asyncio.wait_for(receive(), max(left, 0.0))
            except TimeoutError:
                raise TooSlowError(
                    f"only {taken} bytes came in {time.monotonic() - begun:.0f} s; send it again"
                ) from None
            taken += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if taken > self._largest:
                raise TooLargeError(f"more than {self._largest // 2**20} MiB at once are not taken")
            return message

        return counted


def _sealed(send: Send) -> Send:
    """Add the headers that keep answers on this page; an answer's own ones stay."""

    async def sealed(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return sealed


async def _refuse(send: Send, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
