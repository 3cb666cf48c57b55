"""Claims: what discreet prints about a release, read from its plain data, and who each claim is about.

This is the one place that knows the fields of discreet's data. A claim that is said not to be shown is not a claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redteam.readers import METHOD, OUTSIDER
from redteam.worlds import TOTAL, Cells, World

NOT_SHOWN = "not shown"
METHOD_LAWS = ("method", "reader")
"""Laws under which bits are those of a reader who knows the method."""
Data = Mapping[str, Any]


@dataclass(frozen=True)
class Interval:
    """One figure in an audit: what somebody can work out of it."""

    who: str
    subject: str
    cells: Cells
    lower: float | None
    upper: float | None
    values: float | None
    bits: float | None
    error: float
    law: str
    determined: bool
    safe: bool


@dataclass(frozen=True)
class Sensitive:
    """One sensitive cell in an assessment, with what is claimed of it.

    ``bits`` are those of a reader who knows the method, None where they are not claimed.
    """

    cells: Cells
    lower: float | None
    upper: float | None
    bits: float | None
    state: str
    reach: tuple[float | None, float | None]


@dataclass(frozen=True)
class Verdict:
    """What a verdict that lets a release pass claims of its sensitive cells, and against whom.

    ``determined`` names the reader who cannot work any out exactly; ``width``, ``dr``, ``levels`` and ``lines`` are
    None or False where nothing is claimed.
    """

    determined: str | None
    width: float | None
    dr: float | None
    levels: bool
    lines: bool = False

    @property
    def names_method(self) -> bool:
        """Whether anything is claimed against a reader who knows the method."""
        return self.determined == METHOD or self.dr is not None


def intervals(
    audit: Data, world: World, *, unfinished: bool = False, measures: Sequence[str] = ("",)
) -> Iterator[Interval]:
    """Go through the intervals of an audit that are finished, or through all.

    Of several measures each has all cells once more.
    """
    for row in audit["cells"]:
        cells = _measured(row.get("cell"), world, measures)
        if cells is None or not (unfinished or row.get("finished", True)):
            continue
        yield Interval(
            str(row.get("attacker", OUTSIDER)),
            str(row.get("subject", "value")),
            cells,
            row.get("lower"),
            row.get("upper"),
            row.get("values"),
            row.get("bits") if row.get("basis") != NOT_SHOWN else None,
            float(row.get("bits_error") or 0.0),
            str(audit.get("law", "interval")),
            bool(row.get("determined")),
            row.get("verdict") == "safe",
        )


def sensitive(assessment: Data, world: World) -> Iterator[Sensitive]:
    """Go through the sensitive cells of an assessment."""
    weighed = (assessment.get("audit") or {}).get("law") in METHOD_LAWS
    for row in assessment.get("cells") or ():
        cells = _cells(row.get("cell"), world)
        if cells is None:
            continue
        claimed = weighed and row.get("basis") != NOT_SHOWN
        reach = row.get("must_reach") or (None, None)
        yield Sensitive(
            cells,
            row.get("lower"),
            row.get("upper"),
            row.get("bits") if claimed else None,
            str(row.get("state", "interval")),
            (reach[0], reach[1]),
        )


def released(assessment: Data) -> bool:
    """Say whether the verdict lets anything be published."""
    return assessment.get("verdict") in ("release", "protect")


def verdict(assessment: Data) -> Verdict:
    """Return what an assessment claims by the requirements that it says are met."""
    met: dict[str, Data] = {row["check"]: row for row in assessment.get("checks") or () if row.get("passed")}
    none: Data = {}
    dr = met.get("dr", none)
    named = {"method": METHOD, "figures": OUTSIDER}
    return Verdict(
        named.get(met.get("determined", none).get("reader") or ""),
        met.get("width", none).get("limit"),
        dr.get("limit") if dr.get("reader") == "method" else None,
        "levels" in met,
        "lines" in met,
    )


def _measured(label: Any, world: World, measures: Sequence[str]) -> Cells | None:
    """Return the cells of a label that may name a measure."""
    if not isinstance(label, Mapping) or (measure := label.get("measure", "")) not in measures:
        return None
    found = _cells({name: one for name, one in label.items() if name != "measure"}, world)
    first = measures.index(measure) * len(world.leaves)
    return None if found is None else tuple(first + cell for cell in found)


def _cells(label: Any, world: World) -> Cells | None:
    """Return the cells of a label; None where it is about something else than a sum of cells."""
    if not isinstance(label, Mapping) or not set(label) <= set(world.names):
        return None
    try:
        return world.cells({str(k): str(v) for k, v in label.items()}, TOTAL)
    except KeyError:
        return None
