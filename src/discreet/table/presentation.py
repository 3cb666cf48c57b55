"""How a release is presented: its format, title, notes, symbols, labels, and which dimensions run across a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType

from discreet.core.errors import DataError, RequestError, require
from discreet.core.formula_texts import defused
from discreet.core.json_types import JsonObject
from discreet.table.kinds import Kind
from discreet.table.kinds.kind import KINDS

FORMATS = {"csv": ".csv", "flags": ".csv", "sdmx-csv": ".csv", "parquet": ".parquet", "xlsx": ".xlsx", "tab": ".tab"}
"""The formats of releases, and how their files end."""
ENDINGS = (".csv", ".parquet", ".xlsx", ".tab")
"""How the files of releases may end."""
SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "exact": "",
        "added": "",
        "suppressed": "x",
        "interval": "i",
        "conventional": "r",
        "random": "r",
        "controlled": "r",
        "small": "r",
        "perturbed": "p",
        "relative": "p",
        "sample": "s",
        "swapped": "w",
        "simulated": "m",
    }
)
"""The symbol beside figures of a kind, or in place of hidden ones, unless another is named."""


@dataclass(frozen=True)
class Presentation:
    """What an office decides about a file that it publishes; nothing in it changes a figure.

    >>> Presentation.from_dict({"title": "Religion", "symbols": {"suppressed": "[c]"}}).symbol(Kind("suppressed"))
    '[c]'
    """

    format: str = ""
    """One of :data:`FORMATS`; by default the file's ending decides."""
    title: str = ""
    """The title of the publication."""
    source: str = ""
    """Where the figures come from."""
    period: str = ""
    """What the figures are about, as ``2026`` or ``2026-Q3``; ``TIME_PERIOD`` in SDMX."""
    notes: tuple[str, ...] = ()
    """Footnotes below every table."""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """By kind of figure, the symbol beside it, or in its place where it is hidden."""
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By dimension and code, the text that a workbook shows."""
    columns: tuple[str, ...] | None = None
    """The dimensions that run across the tables of a workbook; by default the last."""
    dataflow: str = "DISCREET:RELEASE(1.0)"
    """What SDMX calls the structure of the data."""

    def __post_init__(self) -> None:
        if self.format not in ("", *FORMATS):
            raise RequestError(f"there is no format {self.format!r}; give {', '.join(FORMATS)}")
        labels = {str(name): MappingProxyType(dict(found)) for name, found in self.labels.items()}
        object.__setattr__(self, "labels", MappingProxyType(labels))
        object.__setattr__(self, "symbols", MappingProxyType(dict(self.symbols)))
        require(self.symbols, KINDS, "a symbol is given, but there is no kind of figure")
        for kind, symbol in self.symbols.items():
            if re.search(r"[\s0-9]", symbol) or defused(f"{symbol} ") != f"{symbol} ":
                raise RequestError(
                    f"the symbol of {kind} figures is {symbol!r}; give one without digits and spaces that does not "
                    "begin like a formula, as x or [c]"
                )
            if not symbol and (KINDS[kind].hidden or KINDS[kind].spans):
                raise RequestError(f"{kind} figures have no symbol, and would pass for empty cells; give one, as x")

    @classmethod
    def from_dict(cls, data: JsonObject) -> Presentation:
        """Return what a table of a TOML file says; unknown keys and wrong types are refused."""
        known = {one.name: one for one in fields(cls)}
        require(data, known, "a presentation has no")
        given: dict[str, object] = {}
        for name, value in data.items():
            if name in ("notes", "columns"):
                good = isinstance(value, Sequence) and all(isinstance(one, str) for one in value)
                given[name], needed = (value,) if isinstance(value, str) else tuple(value) if good else (), "texts"
            elif name in ("symbols", "labels"):
                inner = value.values() if isinstance(value, Mapping) else [None]
                below = (one.values() if isinstance(one, Mapping) else [None] for one in inner)
                texts = inner if name == "symbols" else [text for several in below for text in several]
                good, given[name], needed = all(isinstance(one, str) for one in texts), value, "a table of texts"
            else:
                good, given[name], needed = isinstance(value, str), value, "a text"
            if not good:
                raise RequestError(f"{name} of a presentation is {value!r}; give {needed}")
        checked: JsonObject = given
        return cls(**checked)

    @classmethod
    def read(cls, path: str | Path) -> Presentation:
        """Return what a TOML file says."""
        import tomllib

        try:
            return cls.from_dict(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except OSError as error:
            raise RequestError(f"{path} cannot be read ({error.strerror}); check the name and the folder") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise DataError(f"{path} is not a TOML file ({error}); correct it") from None

    def format_of(self, file: Path) -> str:
        """Return the format of a file; its ending must be that of the format."""
        suffix = file.suffix.lower()
        # Of the formats of one ending, the first is the usual one.
        found = self.format or {".txt": "csv", **{end: name for name, end in reversed(FORMATS.items())}}.get(suffix)
        if not found:
            listed = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
            raise RequestError(f"{file}: '{file.suffix}' is not a format that is written; give {listed}")
        if suffix != FORMATS[found] and not (suffix == ".txt" and FORMATS[found] == ".csv"):
            raise RequestError(f"{file}: a file of the format {found} ends in {FORMATS[found]}; rename it")
        return found

    def symbol(self, kind: Kind) -> str:
        """Return the symbol of a kind of figure."""
        return self.symbols.get(kind.name, SYMBOLS.get(kind.name, kind.name))

    def symbols_of(self, kinds: Sequence[Kind]) -> tuple[str, ...]:
        """Return a different symbol for each kind; kinds without one of their own are numbered ``n``.

        >>> Presentation().symbols_of([Kind(), Kind("random", base=3), Kind("random", base=5)])
        ('', 'r', 'r2')
        """
        found: list[str] = []
        for kind in kinds:
            symbol, number = self.symbol(kind), 1
            while symbol in found:
                number += 1
                symbol = f"{self.symbol(kind) or 'n'}{number}"
            found.append(symbol)
        return tuple(found)


PLAIN = Presentation()
"""The default presentation."""
