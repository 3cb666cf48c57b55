"""Claims: what discreet prints about a release, read from its plain data, and who each claim is about.

This is the one place that knows the fields of discreet's data. A claim that is said not to be shown is no claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redteam.readers import METHOD, OUTSIDER
from redteam.worlds import TOTAL, Cells, World

NOT_SHOWN = ("not shown", "none")
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
    """One sensitive cell in an assessment, with what is claimed of it; None where nothing is."""

    cells: Cells
    lower: float | None
    upper: float | None
    bits: float | None
    exact: bool
    state: str
    reach: tuple[float | None, float | None]


def intervals(audit: Data, world: World) -> Iterator[Interval]:
    """Go through the intervals of an audit that are finished."""
    for row in audit["cells"]:
        cells = _cells(row.get("cell"), world)
        if cells is None or not row.get("finished", True):
            continue
        yield Interval(
            str(row.get("attacker", OUTSIDER)),
            str(row.get("subject", "value")),
            cells,
            row.get("lower"),
            row.get("upper"),
            row.get("values"),
            row.get("bits"),
            float(row.get("bits_error") or 0.0),
            str(audit.get("law", "interval")),
            bool(row.get("determined")),
            row.get("verdict") == "safe",
        )


def sensitive(assessment: Data, world: World) -> Iterator[Sensitive]:
    """Go through the sensitive cells of an assessment."""
    for row in assessment.get("cells") or ():
        cells = _cells(row.get("cell"), world)
        if cells is None:
            continue
        reach = row.get("must_reach") or (None, None)
        yield Sensitive(
            cells,
            row.get("lower"),
            row.get("upper"),
            row.get("bits") if shown(row) else None,
            row.get("shown") in ("exact", "enumerated"),
            str(row.get("state", "interval")),
            (reach[0], reach[1]),
        )


def passed(assessment: Data, name: str) -> Data | None:
    """Return a requirement that is said to be met, None where it is not, or not shown."""
    for row in assessment.get("checks") or ():
        if row.get("check") == name and row.get("passed") and shown(row):
            return row if isinstance(row, Mapping) else None
    return None


def limit(assessment: Data, name: str) -> float | None:
    """Return a limit of the policy that the release is said to keep."""
    row = passed(assessment, name)
    return None if row is None or row.get("limit") is None else float(row["limit"])


def released(assessment: Data) -> bool:
    """Say whether the verdict lets anything be published."""
    return assessment.get("verdict") in ("release", "protect")


def shown(row: Data) -> bool:
    """Say whether a row claims anything: it is exact or a bound, and not merely mentioned."""
    return str(row.get("shown", "")) not in NOT_SHOWN


def claims_method(assessment: Data) -> bool:
    """Say whether the verdict names the reader who knows the method: a limit on 1/H does."""
    return any(
        row.get("check") == "dr" and row.get("passed") and shown(row) and row.get("reader", METHOD) != OUTSIDER
        for row in assessment.get("checks") or ()
    )


def claims_respondents(assessment: Data) -> bool:
    """Say whether the verdict holds against those who contributed; it does unless it says otherwise."""
    rows: Sequence[Data] = assessment.get("checks") or ()
    return not any(row.get("reader") == "respondent" and not shown(row) for row in rows)


def _cells(label: Any, world: World) -> Cells | None:
    """Return the cells of a label; None where it is about something else than a sum of cells."""
    if not isinstance(label, Mapping) or not set(label) <= set(world.names):
        return None
    try:
        return world.cells({str(k): str(v) for k, v in label.items()}, TOTAL)
    except KeyError:
        return None
