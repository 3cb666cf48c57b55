"""A printed number beside the computed one, and the report of a whole study."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

from discreet.core.files import write_text
from discreet.core.formula_texts import csv_text
from discreet.core.json_types import Json
from discreet.core.progress import Progress
from discreet.core.text import Readable

Section: TypeAlias = tuple[str, list[str], list[list[str]]]
"""A further table of a report: its title, header and rows."""
Verdict: TypeAlias = Literal["reproduced", "explained", "differs"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "explained", "differs")
STANDARD_ERRORS = 4.0
"""Figures this many standard errors apart differ. By chance one in 16,000 does, and 300 are compared."""


@dataclass(frozen=True)
class StudyEffort:
    """How much a replay draws; each paper uses what it needs.

    Attributes:
        samples: samples per population and fraction; None for the paper's number.
        draws: random tables, per table or per sample; None for the study's own number.
        seed: makes the draws reproducible, whatever the number of workers.
        workers: threads.
        progress: called as the work advances.
    """

    samples: int | None = None
    draws: int | None = None
    seed: int | None = 1
    workers: int | None = None
    progress: Progress | None = None


def published(name: str) -> list[dict[str, str]]:
    """Return the rows of a printed table that ships with the package."""
    text = (files(__package__) / "published" / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


@dataclass(frozen=True)
class PaperComparison:
    """One printed number and its computed twin.

    Attributes:
        group: the kind of figure, for the summary.
        label: what the figure is.
        printed: as the paper prints it.
        computed: as it is computed here.
        error: the combined standard error of both, 0 for a number that involves no draws.
        decimals: how many the paper prints.
        variant: the number by a variant of the paper's formula, from which print may follow where it does not follow
            from the formula; None where there is no variant.
        variant_error: the combined standard error of print and variant.
    """

    group: str
    label: str
    printed: float
    computed: float
    error: float = 0.0
    decimals: int = 4
    variant: float | None = None
    variant_error: float = 0.0

    @property
    def difference(self) -> float:
        """Computed less printed."""
        return self.computed - self.printed

    @property
    def agrees(self) -> bool:
        """Whether the difference is within rounding and four combined standard errors."""
        return self._close(self.computed, self.error)

    @property
    def follows_variant(self) -> bool:
        """Whether there is a variant of the formula and print agrees with it, within the same limits."""
        return self.variant is not None and self._close(self.variant, self.variant_error)

    def _close(self, value: float, error: float) -> bool:
        # The margin keeps figures whose exact value lies on the rounding edge.
        rounding = 0.5 * 10.0**-self.decimals * (1 + 1e-9)
        return abs(value - self.printed) <= rounding + STANDARD_ERRORS * error

    @property
    def verdict(self) -> Verdict:
        """Reproduced; explained by the variant, though not by the paper's formula; or differs."""
        return "reproduced" if self.agrees else "explained" if self.follows_variant else "differs"

    def cells(self) -> list[str]:
        """Return the comparison as texts."""
        error = f"{self.error:.5f}" if self.error else "exact"
        return [self.label, f"{self.printed:.{self.decimals}f}", f"{self.computed:.4f}", error]

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            **vars(self),
            "difference": self.difference,
            "standard_errors": self.difference / self.error if self.error else None,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, repr=False)
class Study(Readable):
    """A paper's study, replayed.

    Attributes:
        name: the paper's key; ``title`` and ``citation`` name it in full.
        settings: how the replay was run: draws, samples, seed.
        comparisons: all printed numbers.
        remarks: what to know when reading the comparison, in paragraphs.
        extra: further tables of the report.
    """

    name: str
    title: str
    citation: str
    settings: Mapping[str, Json]
    comparisons: tuple[PaperComparison, ...]
    remarks: tuple[str, ...] = ()
    extra: tuple[Section, ...] = ()

    @property
    def reproduced(self) -> bool:
        """Whether every number is reproduced or explained."""
        return all(row.verdict != "differs" for row in self.comparisons)

    def differing(self) -> list[PaperComparison]:
        """Return the numbers that do not agree, unexpected ones first."""
        wrong = [row for row in self.comparisons if not row.agrees]
        return sorted(wrong, key=lambda row: row.verdict != "differs")

    def summary(self) -> list[list[str]]:
        """Return counts by kind of figure and verdict, as rows of text."""
        rows = []
        for group in dict.fromkeys(row.group for row in self.comparisons):
            verdicts = [row.verdict for row in self.comparisons if row.group == group]
            rows.append([group, str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in VERDICTS)])
        return rows

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        verdicts = [row.verdict for row in self.comparisons]
        reproduced, explained, differ = (verdicts.count(verdict) for verdict in VERDICTS)
        text = f"{reproduced} of {len(verdicts)} printed numbers are reproduced"
        if explained:
            text += (
                f", {explained} are explained: they follow from a variant of the paper's formula, not from the formula"
            )
        return f"{text}; {differ} differ." if differ else f"{text}; none differs otherwise."

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data."""
        return {
            "study": self.name,
            "reproduced": self.reproduced,
            "sentence": self.sentence,
            "settings": self.settings,
            "comparisons": [row.to_dict() for row in self.comparisons],
        }

    def __str__(self) -> str:
        """Return the outcome in words."""
        return f"{self.title}\n{self.sentence}"

    def to_markdown(self) -> str:
        """Return the report: outcome, remarks, every number."""
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        parts = [
            f"# {self.title}",
            self.citation,
            f"Replayed with `discreet study {self.name}` ({settings}).",
            f"**{self.sentence}**",
            markdown_table(["figures", "compared", *VERDICTS], self.summary()),
            "A number counts as reproduced when printed and computed value differ by no more than the rounding of "
            "print and four combined standard errors. The error combines the Monte Carlo errors of both.",
            *self.remarks,
        ]
        for title, header, rows in self.extra:
            parts += [f"## {title}", markdown_table(header, rows)]
        parts.append("## Every printed number")
        for group in dict.fromkeys(row.group for row in self.comparisons):
            members = [row for row in self.comparisons if row.group == group]
            rows = [[*row.cells(), _apart(row.difference, row.error), row.verdict] for row in members]
            header = ["figure", "printed", "computed", "error", "errors apart", "verdict"]
            if any(row.variant is not None for row in members):
                header += ["variant", "errors apart"]
                rows = [[*cells, *_variant(row)] for cells, row in zip(rows, members, strict=True)]
            parts += [f"### {group}", markdown_table(header, rows)]
        return "\n\n".join(parts) + "\n"

    def to_csv(self) -> str:
        """Return every comparison as CSV."""
        rows = [row.to_dict() for row in self.comparisons]
        return csv_text(list(rows[0]), (list(row.values()) for row in rows))

    def write(self, folder: str | Path) -> None:
        """Write report.md, results.csv and results.json into a folder."""
        target = Path(folder)
        target.mkdir(exist_ok=True)
        write_text(target / "report.md", self.to_markdown())
        write_text(target / "results.csv", self.to_csv())
        write_text(target / "results.json", json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")


def _apart(difference: float, error: float) -> str:
    return f"{difference / error:+.1f}" if error and math.isfinite(error) else "–"


def _variant(row: PaperComparison) -> list[str]:
    if row.variant is None:
        return ["–", "–"]
    return [f"{row.variant:.4f}", _apart(row.variant - row.printed, row.variant_error)]


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
