"""Who may talk to the workbench: pages of this server on this machine that know its address, and nobody else."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]

HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class TooLargeError(Exception):
    """More was sent than is taken; the application answers it."""


class Guard:
    """Lets requests through whose path begins with the token, from this host and this origin, of bounded size.

    The token is the first part of every address, so no cookie travels to other servers of this machine. A name other
    than the loopback's in the header ``Host`` is that of a foreign page whose name was made to point here.
    """

    def __init__(self, app: Any, *, token: str, hosts: Callable[[], set[str]], largest: int) -> None:
        self._app, self._token, self._hosts, self._largest = app, token, hosts, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on with the token taken off its path."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if host not in self._hosts():
            return await _refuse(send, 421, "this server answers on its own address only")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return await _refuse(send, 403, "requests from other origins are not answered")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return await _refuse(send, 403, "requests from other sites are not answered")
        first, _, rest = scope["path"].lstrip("/").partition("/")
        if not secrets.compare_digest(first.encode(), self._token.encode()):
            return await _refuse(send, 403, "the address lacks the token; open the one that the command line printed")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._largest:
            return await _refuse(send, 413, f"more than {self._largest // 2**20} MiB at once are not taken")
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self._app(inner, self._counted(receive), _sealed(send))

    def _counted(self, receive: Receive) -> Receive:
        """Count what is sent without a length."""
        taken = 0

        async def counted() -> MutableMapping[str, Any]:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._largest:
                raise TooLargeError(f"more than {self._largest // 2**20} MiB at once are not taken")
            return message

        return counted


def _sealed(send: Send) -> Send:
    """Add the headers that keep answers on this page; an answer's own ones stay."""

    async def sealed(message: MutableMapping[str, Any]) -> None:
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
