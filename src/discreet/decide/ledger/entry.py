"""One line of the ledger: a published release, its description, and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from discreet.core.json_types import Json
from discreet.core.text import Readable
from discreet.decide.ledger.populations import family
from discreet.table.figures import Figures
from discreet.table.release import Release
from discreet.table.spelling import renamed, spelled


@dataclass(frozen=True)
class Amendment:
    """A correction of a release's description: by whom, when and why, and the description before."""

    day: str
    who: str
    reason: str
    population: str
    period: str
    variable: str
    least: int | None = None


@dataclass(frozen=True, repr=False)
class Entry(Readable):
    """A published release, without its figures.

    ``population`` and ``period`` say whom and when the figures are about, ``variable`` what is added up (nothing or
    ``count`` for numbers of people or firms). ``withdrawn`` is the day of its withdrawal; readers may have kept it, so
    it still counts in checks unless nobody saw it (``unseen``). ``revises`` are the ids of the releases whose figures
    it corrects. ``amended`` are the corrections of its description, each with the description before, the oldest first.
    ``least`` is what was said afterwards about hidden figures whose marks do not say what is at least behind them.
    """

    id: str
    title: str
    published: str
    method: str
    dimensions: tuple[str, ...]
    figures: int
    hidden: int
    population: str = ""
    period: str = ""
    variable: str = ""
    withdrawn: str = ""
    reason: str = ""
    unseen: bool = False
    revises: tuple[str, ...] = ()
    amended: tuple[Amendment, ...] = ()
    least: int | None = None

    @property
    def counts(self) -> bool:
        """True where the figures are numbers of people or firms, not amounts."""
        return spelled(self.variable) in ("", "count")

    @property
    def status(self) -> str:
        """What became of it, in words."""
        if not self.withdrawn:
            return "published"
        return "withdrawn, nobody saw it" if self.unseen else "withdrawn"

    def may_be_about(self, population: str, period: str) -> bool:
        """True unless it states another population or period; one that is not stated may be the same.

        Nested populations are one family, and are judged together.

        >>> entry = Entry("1", "Firms", "2024-05-31", "as published", ("size",), 3, 0, period="2024")
        >>> entry.may_be_about("firms", "2024"), entry.may_be_about("", ""), entry.may_be_about("firms", "2023")
        (True, True, False)
        """
        if self.period != period and self.period and period and spelled(self.period) != spelled(period):
            return False
        return not self.population or not population or family(self.population) == family(population)

    def same_variable(self, other: Entry) -> bool:
        """True where both add up the same."""
        return spelled(self.variable) == spelled(other.variable) or (self.counts and other.counts)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        lists = {
            "dimensions": list(self.dimensions),
            "revises": list(self.revises),
            "amended": [asdict(one) for one in self.amended],
        }
        return {**asdict(self), **lists, "status": self.status}

    def row(self) -> list[str]:
        """Return the line as texts."""
        about = ", ".join(part for part in (self.population, self.period, self.variable) if part)
        shown = f"{self.figures:,}" + (f" ({self.hidden:,} hidden)" if self.hidden else "")
        when = self.published if not self.withdrawn else f"{self.published}, {self.status}"
        when += f", retagged {self.amended[-1].day}" if self.amended else ""
        return [self.id, self.title, about, " × ".join(self.dimensions), shown, when]

    def __str__(self) -> str:
        """Name the release."""
        return f"{self.id} «{self.title}»"


HEADER = ["id", "title", "about", "dimensions", "figures", "published"]


@dataclass(frozen=True)
class PublishedTable:
    """One published table, the release that it belongs to, and the draw that its figures were made by."""

    figures: Figures
    entry: Entry
    draw: str = ""


def sheets_of(release: Release, entry: Entry, names: Mapping[str, str] | None = None) -> list[PublishedTable]:
    """Return the tables of a release; those that were perturbed by the keys of their records share a draw.

    ``names`` gives one spelling for dimensions whose names are spelled in several ways.
    """
    draw = release.method if release.parameters.get("keys") == "records" else f"{entry.id} {entry.title}"
    return [PublishedTable(renamed(part, names or {}), entry, draw) for part in release.parts()]
