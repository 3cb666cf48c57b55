"""What the word safe means in an audit: which limits were given, and in their absence how little it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.auditing.limits import Limits


@dataclass(frozen=True)
class Criterion:
    """What was asked of every hidden figure before it was called safe.

    Without limits safe says only that a figure is not determined: an interval of two values passes.

    >>> print(Criterion())
    Safe means here only: not worked out exactly; give --min-width, --max-dr, --protection or --rule for more.
    >>> print(Criterion(Limits(width=5)))
    Safe means here: not worked out exactly, and an interval at least 5 wide.
    """

    limits: Limits = field(default_factory=Limits)
    protection: float | None = None
    rules: tuple[str, ...] | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The limits that were given, by name."""
        every = {
            "min_width": self.limits.width,
            "max_dr": self.limits.dr,
            "within": self.limits.within,
            "levels": len(self.limits.levels or ()) or None,
            "protection": self.protection,
            "rules": None if self.rules is None else list(self.rules),
        }
        return {name: limit for name, limit in every.items() if limit is not None}

    @property
    def means(self) -> str:
        """What safe means, as a phrase."""
        given = self.given
        first = "not worked out exactly" if self.rules is None else "no sensitive figure worked out exactly"
        texts = {
            "min_width": f"an interval at least {self.limits.width or 0:g} wide",
            "max_dr": f"a risk of at most {self.limits.dr or 0:g}",
            "within": f"no contributor known to another within {self.limits.within or 0:g}%",
            "levels": f"the levels of {given.get('levels')} cells reached",
            "protection": f"{self.protection or 0:g}% of the original reached to either side",
            "rules": f"the protection levels of {', '.join(self.rules or ())} reached by sensitive cells",
        }
        found = [texts[name] for name in given]
        return f"{first}, and {', '.join(found)}" if found else first

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"safe_means": self.means if self.given else "not determined", "limits": self.given}

    def __str__(self) -> str:
        """Say what safe means, and what would make it mean more."""
        if self.given:
            return f"Safe means here: {self.means}."
        return f"Safe means here only: {self.means}; give --min-width, --max-dr, --protection or --rule for more."
