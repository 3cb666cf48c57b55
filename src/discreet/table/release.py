"""A release: what is published about a table, or about several that are linked, and how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from discreet.core.errors import DataError, RequestError
from discreet.core.text import Readable, columns, settings_text
from discreet.table.figures import Figures
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.grid import Copied
from discreet.table.kinds import EXACT, Kind
from discreet.table.listed_zeros import with_zeros
from discreet.table.presentation import PLAIN, Presentation
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet.table.arrow_files import Backend, Frame

TRIAL = "This is a trial, not for publication"
AS_PUBLISHED = "as published"
"""The method of releases of which nothing else is known."""


@dataclass(frozen=True, repr=False)
class Release(Copied, Readable):
    """Published figures and the name and parameters of the method that made them.

    It holds no original value and no seed: somebody who knows the method and the seed could undo a random
    method. ``inner`` holds the inner counts if all of them are published; ``figures`` any published tables with
    margins, hidden, rounded, perturbed or merged figures, linked by the dimensions that they share. ``kind`` says what
    a reader knows about the true counts behind ``inner`` if no figures say it. ``trial`` says that it is not for
    publication: it was drawn with a seed so short that all can be tried, or was declared a trial.
    """

    inner: Table | None
    method: str = AS_PUBLISHED
    parameters: Mapping[str, object] = field(default_factory=dict)
    figures: tuple[Figures, ...] = ()
    kind: Kind = EXACT
    trial: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        object.__setattr__(self, "figures", tuple(self.figures))
        if self.inner is None and not self.figures:
            raise DataError("the release publishes nothing; give a table or figures")

    @property
    def table(self) -> Table:
        """The published inner counts; an error if some of them are not published."""
        if self.inner is None:
            raise DataError(
                "the release does not publish every inner count, so it cannot be compared cell by cell; audit it "
                "(discreet.audit, discreet audit)"
            )
        return self.inner

    @classmethod
    def of(cls, figures: Figures | Iterable[Figures], method: str = AS_PUBLISHED) -> Release:
        """Return the release of one published table, or of several linked ones."""
        return cls(None, method, {}, (figures,) if isinstance(figures, Figures) else tuple(figures))

    def parts(self, *, zeros: bool = False) -> tuple[Figures, ...]:
        """Return everything that is published as figures: those given, or the counts of the table.

        With ``zeros`` every empty cell of the table has a row too, unless they are too many.

        >>> rounded = Release(Table.from_array([3, 6], ["month"]), "random-rounding", kind=Kind("random", base=3))
        >>> rounded.parts()[0].ranges()[1].tolist()
        [5, 8]
        """
        if self.figures or self.inner is None:
            return self.figures
        listed = zeros and self.inner.size <= DENSE_LIMIT
        return (Figures.of_table(self.inner, self.kind, zeros=listed, name=self.method),)

    def marked(self, least: int) -> Release:
        """Return the release with marks that say what hidden figures are at least, where they say nothing of zeros."""
        parts = self.parts()
        if not any(part.unsaid for part in parts):
            return self
        return replace(self, figures=tuple(part.marked(least) for part in parts))

    def as_trial(self) -> Release:
        """Return the release, marked as one that is not for publication."""
        return self if self.trial else replace(self, trial=True)

    def refuse_trial(
        self, purpose: str, other: str = ", or say that this is for a trial (trial=True, --trial)"
    ) -> None:
        """Refuse to publish a release that was made for a trial; ``other`` says what else can be done."""
        if self.trial:
            raise RequestError(
                f"the release by {self.method} was made for a trial, as with a seed that is found by trying all; it is "
                f"not {purpose}. Protect the table again without a seed{other}"
            )

    def write(
        self,
        path: str | Path,
        *,
        value: str = "count",
        mark: str = "x",
        trial: bool = False,
        formulas: Literal["defuse", "keep"] = "defuse",
        style: Presentation = PLAIN,
    ) -> tuple[Path, ...]:
        """Write what is published, atomically, in the format of ``style`` or of the file's ending.

        The formats are CSV with marks (``.csv``), Parquet, an Excel workbook (``.xlsx``), files of τ-ARGUS (``.tab``),
        CSV with a flag column (``Presentation(format="flags")``) and SDMX-CSV (``format="sdmx-csv"``);
        :class:`~discreet.table.presentation.Presentation` holds titles, symbols, labels and layout too. In CSV the mark
        replaces hidden figures, columns ``lower`` and ``upper`` hold intervals, and a column ``published_as`` says how
        figures were made, what a mark means and how many rows there are: a file that is cut short is refused. Parquet
        and workbooks keep hierarchies and parameters too. Several linked tables become numbered files, or sheets of one
        workbook; the names of all files are returned. :func:`~discreet.table.release_reader.read_release` reads them
        back. A release that was made for a trial is written only with ``trial=True``, and then says so. Labels that a
        spreadsheet would run as formulas get a leading apostrophe, which reading removes; ``formulas="keep"`` leaves
        them unchanged.
        """
        if not trial:
            self.refuse_trial("written")
        from discreet.table.release_writer import write_figures

        parts = self.parts()
        if Path(path).suffix.lower() != ".parquet":
            # People look for empty cells, and empty categories would be missing without them.
            parts = tuple(map(with_zeros, self.parts(zeros=True)))
        about = {"method": self.method, "parameters": dict(self.parameters), "trial": self.trial}
        return write_figures(parts, path, about, self.inner, value=value, mark=mark, formulas=formulas, style=style)

    def to_frame(self, backend: Backend = "pandas", *, value: str = "count") -> Frame:
        """Return what is published as a frame, a row per figure; hidden figures are missing values.

        Intervals are in the columns ``lower`` and ``upper``, statistics in columns of their own, as texts. Several
        linked tables become one frame, in which a dimension that a table does not have is at its total.

        >>> Release(Table.from_array([3, 0], ["month"])).to_frame()["count"].tolist()
        [3, 0]
        """
        from discreet.table.release_writer import release_frame

        parts = tuple(map(with_zeros, self.figures))
        if not self.figures and self.inner is not None:
            parts = (Figures.of_table(self.inner, self.kind, zeros=True),)
        return release_frame(parts, {"trial": self.trial}, value, backend)

    @property
    def _made(self) -> str:
        return settings_text(self.parameters)

    @property
    def _head(self) -> str:
        made = f" ({self._made})" if self._made else ""
        return f"Release{'' if self.method == AS_PUBLISHED else ' by'} {self.method}{made}"

    def __str__(self) -> str:
        shown = [] if self.inner is None else [str(self.inner)]
        for header, rows, sentence, left in (part.face() for part in self.figures):
            shown += [sentence, columns(header, rows, left)]
        return "\n".join([*([TRIAL] if self.trial else []), self._head, *shown])

    def _repr_html_(self) -> str:
        import html

        head = f"<p>{TRIAL + '. ' if self.trial else ''}{html.escape(self._head)}</p>"
        lists = "".join(part._repr_html_() for part in self.figures)
        return f"{head}{self.inner._repr_html_() if self.inner is not None else ''}{lists}"


def published(figures: Table | Release) -> Table:
    """Return the published table of a release, or the table itself."""
    return figures.table if isinstance(figures, Release) else figures


Published: TypeAlias = Release | Figures | Table


def _several(releases: Published | Iterable[Published]) -> list[Published]:
    return [releases] if isinstance(releases, Release | Figures | Table) else list(releases)


def parts_of(releases: Published | Iterable[Published]) -> tuple[Figures, ...]:
    """Return the published tables of a release, of several, or of tables taken as published exactly.

    Sums of published figures are left out: they add nothing.
    """
    parts: list[Figures] = []
    for item in _several(releases):
        if isinstance(item, Figures):
            parts.append(item)
        elif isinstance(item, Release | Table):
            parts += (Release(item) if isinstance(item, Table) else item).parts()
        else:
            raise RequestError(f"a {type(item).__name__} is not a release; give releases, figures or tables")
    if not parts:
        raise RequestError("there is nothing to audit; give at least one release")
    return tuple(part.telling() for part in parts)


def draws_of(releases: Published | Iterable[Published]) -> tuple[int, ...]:
    """Return for every published table the number of the draw that made it.

    The tables of one release were drawn together: a figure that several show is one figure. So were all tables
    perturbed by the keys of their records. Other releases were drawn on their own.
    """
    found: list[int] = []
    keyed: dict[str, int] = {}
    for number, item in enumerate(_several(releases)):
        draw = number
        if isinstance(item, Release) and item.parameters.get("keys") == "records":
            draw = keyed.setdefault(item.method, number)
        found += [draw] * len(parts_of(item))
    return tuple(found)
