"""The result of verifying a ledger."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from discreet.core.json_types import Json
from discreet.core.text import many


@dataclass(frozen=True)
class Verification:
    """An intact ledger: its head, its size, and what else it was checked against.

    ``signed`` says that signatures were checked with a key; ``kept`` is a head that was kept elsewhere and found in the
    chain.
    """

    head: str
    events: int
    releases: int
    signed: bool
    kept: str | None = None

    @property
    def sentence(self) -> str:
        """The result in words."""
        by = " Its signatures are those of the key." if self.signed else ""
        found = f" It holds everything up to the head {self.kept[:16]}… that was kept." if self.kept else ""
        return f"The chain of {many(self.events, 'event')} and {many(self.releases, 'release')} is whole.{by}{found}"

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {**asdict(self), "sentence": self.sentence}

    def __str__(self) -> str:
        """Return the result and the head."""
        return f"{self.sentence}\nhead {self.head}"
