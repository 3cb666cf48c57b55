"""One judge: a check against a ledger and an audit give the same answer to the same question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.auditing.audit import audit
from discreet.auditing.limits import Limits
from discreet.decide.ledger import Check, Ledger
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.release import Release

AXES = {"r": ["a", "b", "c", "Total"], "c": ["u", "v", "w", "Total"]}
LIMITS: list[dict[str, Any]] = [{}, {"width": 2.0}, {"dr": 0.7}, {"width": 3.0, "dr": 0.6}]


def whole(inner: np.ndarray) -> np.ndarray:
    full = np.zeros((4, 4), np.int64)
    full[:3, :3] = inner
    full[3, :3], full[:3, 3], full[3, 3] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    return full


def release_of(seed: int) -> Release:
    """Return a random table: some figures hidden, or all rounded, and some of these hidden as well."""
    draw = np.random.default_rng(seed)
    full = whole(draw.integers(0, 7, (3, 3)))
    hidden = draw.random((4, 4)) < draw.choice([0.2, 0.4, 0.6])
    hidden[3, 3] = False
    way = seed % 4
    least = int(draw.integers(0, 2))
    hidden &= full >= least
    kinds: tuple[Kind, ...]
    if way == 0:
        kinds = (Kind(), Kind("suppressed", least=least or None))
        values, kind = full, hidden.astype(np.int64)
    elif way == 1:
        kinds = (Kind("conventional", base=3),)
        values, kind = (full + 1) // 3 * 3, np.zeros((4, 4), np.int64)
    else:
        low = full // 3 * 3
        kinds = (Kind("random", base=3), Kind("suppressed", least=least or None))
        values = np.where(draw.random((4, 4)) * 3 < full - low, low + 3, low)
        kind = hidden.astype(np.int64) * (way == 3)
    codes = np.array([(i, j) for i in range(4) for j in range(4)])
    labels = {name: tuple(found) for name, found in AXES.items()}
    return Release.of(Figures(labels, codes, values.ravel(), kind.ravel(), kinds, name="t"))


def asked_of(checked: Check, part: Figures) -> dict[str, tuple[float, float, str]]:
    """Return the findings on figures that the release does not show exactly."""
    lower, upper = part.ranges()
    open_ = {
        tuple(part.labels[name][code] for name, code in zip(part.names, row, strict=True))
        for row in part.codes[lower < upper].tolist()
    }
    return {
        f.name: (f.lower, f.upper, f.reason)
        for f in checked.findings
        if not f.units and tuple(f.cell.values()) in open_
    }


@pytest.mark.parametrize("seed", range(120))
def test_a_ledger_that_holds_only_it_says_what_an_audit_says(tmp_path: Path, seed: int) -> None:
    release, limits = release_of(seed), LIMITS[seed // 4 % len(LIMITS)]
    found = audit(release, limits=Limits(**limits))
    wrong = {entry.name: (entry.lower, entry.upper, "; ".join(entry.faults)) for entry in found.cells if entry.faults}
    empty = Ledger(tmp_path / "empty.sqlite")
    checked = empty.check(release, **limits)
    assert asked_of(checked, release.parts()[0]) == wrong
    assert {f.cause for f in checked.findings} <= {"itself"}
    if found.verdict == "unsafe":
        assert checked.verdict == "unsafe"
    elif found.verdict == "safe" and not checked.new:
        assert checked.verdict == "safe"
    # Once it is published, the same is known from it, and is no news.
    empty.add(release, title="t")
    again = empty.check(release, title="again", **limits)
    assert asked_of(again, release.parts()[0]) == wrong
    assert (again.verdict, {f.cause for f in again.findings if f.sensitive} <= {"before"}) == ("safe", True)
