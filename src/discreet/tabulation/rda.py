"""The metadata of τ-ARGUS: an ``.rda`` file that says which variables a data file has and what they are for."""

from __future__ import annotations

import csv
import io
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from discreet.core.errors import DataError, RequestError
from discreet.table.arrow_files import decode, errors_of
from discreet.table.hierarchy import TOTAL, Hierarchy, Prefixes

ROLES = {
    "RECODEABLE": "dimension",
    "RECODABLE": "dimension",
    "FREQUENCY": "frequency",
    "SHADOW": "shadow",
    "COSTVAR": "cost",
    "MAXSCORE": "top",
    "STATUS": "status",
    "LOWERPL": "lower",
    "UPPERPL": "upper",
    "WEIGHT": "weight",
    "HOLDING": "holding",
    "REQUEST": "request",
}
"""The role that each keyword gives a variable; one that is only numeric is a response."""


@dataclass(frozen=True)
class Variable:
    """A variable of the data file: its name, place, missing codes, and the keywords that follow it."""

    name: str
    start: int | None = None
    length: int | None = None
    missing: tuple[str, ...] = ()
    keywords: dict[str, list[str]] = field(default_factory=dict, hash=False)

    @property
    def role(self) -> str:
        """What the variable is for."""
        for keyword, role in ROLES.items():
            if keyword in self.keywords:
                return role
        return "response" if "NUMERIC" in self.keywords else "other"

    @property
    def total(self) -> str:
        """The code of the total."""
        given = self.keywords.get("TOTCODE", [])
        return given[0] if given and given[0] else TOTAL


@dataclass(frozen=True)
class Metadata:
    """The variables of a data file in order, and their separator; None for fixed width."""

    file: Path
    separator: str | None
    variables: tuple[Variable, ...]

    def of(self, role: str) -> list[Variable]:
        """Return the variables of a role."""
        return [variable for variable in self.variables if variable.role == role]

    def hierarchy_file(self, variable: Variable) -> Path | None:
        """Return the file of a dimension's hierarchy, if one is named."""
        named = variable.keywords.get("HIERCODELIST")
        # Metadata written on Windows may hold a whole path; the file lies beside it.
        return self.file.parent / named[0].replace("\\", "/").rsplit("/", 1)[-1] if named else None

    def rows(self, text: str, file: Path) -> tuple[list[list[str]], list[int]]:
        """Return the fields of every line of a separated file, and the numbers of the lines."""
        assert self.separator is not None
        rows, lines = [], []
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.separator)
        for row in filter(None, reader):
            if len(row) != len(self.variables):
                raise DataError(
                    f"{file}: line {reader.line_num} has {len(row)} fields, but the metadata name "
                    f"{len(self.variables)} variables; give every line as many"
                )
            rows.append(row)
            lines.append(reader.line_num)
        return rows, lines

    def plain(self, text: str) -> str:
        """Return a number with a decimal point; a comma is read as one where it does not separate fields."""
        return text.strip() if self.separator == "," else text.strip().replace(",", ".")

    def hierarchy(self, variable: Variable, encoding: str = "utf-8") -> Hierarchy | Prefixes | None:
        """Return the hierarchy of a dimension: its file beside the metadata, or the digits of its levels."""
        keywords = variable.keywords
        path = self.hierarchy_file(variable)
        if path is not None:
            lead = (keywords.get("HIERLEADSTRING") or ["@"])[0]
            if not path.exists():
                raise RequestError(f"{self.file}: hierarchy file {path} of {variable.name!r} does not exist; add it")
            with errors_of(path):
                return Hierarchy.from_hrc(text_of(path, encoding), lead=lead, total=variable.total)
        if "HIERLEVELS" in keywords:
            if odd := next((part for part in keywords["HIERLEVELS"] if not part.isdecimal()), None):
                raise DataError(f"{self.file}: {variable.name!r} has <HIERLEVELS> {odd!r}; give numbers of digits")
            digits = [int(part) for part in keywords["HIERLEVELS"] if int(part) > 0]
            lengths = [sum(digits[: i + 1]) for i in range(len(digits) - 1)]
            return Prefixes(tuple(lengths)) if lengths else None
        return None


def text_of(file: Path, encoding: str) -> str:
    """Return the text of a file of τ-ARGUS."""
    try:
        return decode(file.read_bytes(), file, encoding)
    except OSError as error:
        raise RequestError(f"{file} cannot be read ({error.strerror}); check the name and the folder") from None


def read_rda(path: str | Path, *, encoding: str = "utf-8") -> Metadata:
    """Read the metadata of a τ-ARGUS data file."""
    file = Path(path)
    separator: str | None = None
    variables: list[Variable] = []
    for number, line in enumerate(text_of(file, encoding).splitlines(), start=1):
        words = _words(line, file, number)
        if not words:
            continue
        if words[0] == "<SEPARATOR>":
            if len(words) < 2 or len(words[1]) != 1 or words[1] in '"\r\n\0':
                raise DataError(f'{file}: line {number}: <SEPARATOR> names no character; write it as <SEPARATOR> ";"')
            separator = words[1]
        elif words[0].startswith("<"):
            if not variables:
                raise DataError(f"{file}: line {number}: {words[0]} comes before any variable; name one first")
            for keyword, values in _keywords(words):
                variables[-1].keywords[keyword] = values
        else:
            variables.append(_variable(line, words, separator, file, number))
    if not variables:
        raise DataError(f"{file} names no variable; it should list those of the data file")
    return Metadata(file, separator, tuple(variables))


def _words(line: str, file: Path, number: int) -> list[str]:
    try:
        lexer = shlex.shlex(line, posix=True)
        lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
        return list(lexer)
    except ValueError:
        raise DataError(f"{file}: line {number} has a quote that does not end; close it") from None


def _keywords(words: list[str]) -> list[tuple[str, list[str]]]:
    """Split ``<NUMERIC> <DECIMALS> 2`` into keywords with what follows each."""
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if word.startswith("<") and word.endswith(">"):
            found.append((word[1:-1].upper(), []))
        elif found:
            found[-1][1].append(word)
    return found


def _variable(line: str, words: list[str], separator: str | None, file: Path, number: int) -> Variable:
    rest = words[1:]
    if separator is not None:
        # A bare number is the width of the field, which does not matter where there is a separator.
        return Variable(words[0], missing=tuple(word for word in rest if f'"{word}"' in line))
    if len(rest) < 2 or not (rest[0].isdecimal() and rest[1].isdecimal()):
        raise DataError(
            f"{file}: line {number}: variable {words[0]!r} has no place; without a <SEPARATOR> give start and length"
        )
    return Variable(words[0], int(rest[0]), int(rest[1]), tuple(rest[2:]))
