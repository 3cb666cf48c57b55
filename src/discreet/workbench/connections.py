"""Silent connections: one whose request does not begin in time is closed."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 20.0
"""Seconds for the first lines of a request: a round choice, far above what a browser takes."""


class TimedConnection(H11Protocol):
    """A connection that is closed unless the first lines of a request arrive in time."""

    hurry: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once a request has begun."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._rest()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._rest()
        elif self.hurry is None:
            self.hurry = self.loop.call_later(PATIENCE, self.transport.abort)

    def on_response_complete(self) -> None:
        """Leave an idle connection to the server, which closes it on its own."""
        self._rest()
        super().on_response_complete()

    def _rest(self) -> None:
        if self.hurry is not None:
            self.hurry.cancel()
            self.hurry = None
