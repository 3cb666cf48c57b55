"""Tables, releases and cells as plain data that JSON can write, for reports and programs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from discreet.core.json_types import Json
from discreet.core.text import finite
from discreet.decide.evidence import Evidence
from discreet.decide.known_cells import STATES
from discreet.decide.subject import Subject
from discreet.rules.rule import amount
from discreet.rules.sensitivity import Sensitivity
from discreet.table.figures import Figures
from discreet.table.release import Release


def original_data(subject: Subject, found: Sensitivity | None) -> dict[str, Json]:
    """Return the true table with its margins, in columns, and which cells are sensitive; confidential."""
    cells = subject.tabulation if found is None else found.tabulation
    codes = np.stack([cells.codes(axis.name) for axis in cells.axes], axis=1)
    values = subject.amounts() if found is None else found.figures[0].value
    return {
        "name": subject.name,
        "headline": subject.headline,
        "magnitudes": subject.magnitudes,
        "response": subject.response,
        "total": cells.axes[0].total,
        "people": None if subject.table is None else subject.table.total,
        "possible": None if subject.table is None else subject.table.possible,
        "dimensions": [
            {
                "name": axis.name,
                "labels": list(axis.codes),
                "leaves": axis.leaf_codes.tolist(),
                "parents": [list(tree.parents) for tree in axis.hierarchies],
            }
            for axis in cells.axes
        ],
        "codes": codes.tolist(),
        "values": [finite(value) for value in values.tolist()],
        "sensitive": [] if found is None else found.cells.tolist(),
    }


def release_data(release: Release) -> dict[str, Json]:
    """Return what is published, in columns; a hidden figure is None."""
    parts = [_figures_data(part) for part in release.parts()]
    return {"method": release.method, "parameters": plain(dict(release.parameters)), "figures": parts}


def _figures_data(part: Figures) -> dict[str, Json]:
    values = (part.values / 10**part.decimals if part.decimals else part.values).tolist()
    statistics = [
        {
            "name": one.name,
            "definition": str(one.statistic),
            "codes": one.codes.tolist(),
            "shown": [one.text(row) for row in range(len(one))],
        }
        for one in part.statistics
    ]
    return {
        "name": part.name,
        "dimensions": [{"name": name, "labels": list(labels)} for name, labels in part.labels.items()],
        "codes": part.codes.tolist(),
        "values": [None if hides else value for value, hides in zip(values, part.hidden.tolist(), strict=True)],
        "upper": None if part.upper is None else part.upper.tolist(),
        "kind": part.kind.tolist(),
        "kinds": [kind.phrase for kind in part.kinds],
        "hides": [kind.hidden for kind in part.kinds],
        "decimals": part.decimals,
        "total": part.total,
        "absent": part.absent,
        **({"statistics": statistics} if part.statistics else {}),
    }


def plain_settings(given: Mapping[str, object]) -> dict[str, Json]:
    """Return named parameters as JSON values."""
    return {str(key): plain(item) for key, item in given.items()}


def plain(value: object) -> Json:
    """Return a parameter as a JSON value."""
    if isinstance(value, dict):
        return plain_settings(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.integer | np.floating | np.bool_):
        return value.item()
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def sensitive_data(found: Sensitivity | None) -> dict[str, Json] | None:
    """Return how many cells each rule calls sensitive."""
    if found is None:
        return None
    return {
        "sentence": found.sentence,
        "cells": len(found.tabulation),
        "statuses": found.statuses,
        "by_rule": found.by_rule,
        "combine": found.combine,
    }


def cell_rows(found: Sensitivity, evidence: Evidence, n: int | None) -> list[dict[str, Json]]:
    """Return sensitive cells with what a reader knows about each, the worst first."""
    known, here = evidence.known, found.tabulation
    low, high = known.must
    dr = known.dr
    totals = {axis.name: axis.total for axis in here.axes}
    rows = []
    for k in known.worst()[:n].tolist():
        i = int(known.cell[k])
        state, label = STATES[int(known.state[k])], here.label(i)
        name = ", ".join(f"{d}={c}" for d, c in label.items() if c != totals[d]) or "total"
        # What no table lists is asked about by its number.
        proof: str | None = evidence.audit.proofs.get(int(known.entry[k]), "").replace(f"cell {i} ", f"{name} ")
        lower, upper, exact = float(known.lower[k]), float(known.upper[k]), state in ("exact", "determined")
        reach = "not finished"
        if not math.isnan(lower):
            reach = f"{amount(lower)} to {'∞' if math.isinf(upper) else amount(upper)}"
            reach += " or less (not finished)" if state == "unfinished" else ""
        if state == "exact":
            proof = f"published as {known.shown[k]}" if known.shown[k] != "not published" else "published as empty"
        rows.append(
            {
                "cell": label,
                "name": name,
                "original": finite(float(found.figures[0].value[i])),
                "published": known.shown[k],
                "rules": list(dict.fromkeys(rule.name for rule, _, _ in found.broken(i))),
                "reason": _reason(found, i),
                "state": state,
                "known": f"exactly {amount(lower)}" if exact else reach,
                "lower": finite(lower),
                "upper": finite(upper),
                "bits": finite(float(known.bits[k])),
                "dr": finite(float(dr[k])),
                "basis": "not shown" if np.isnan(known.bits[k]) else "bound" if known.bound[k] else "exact",
                "must_reach": [finite(float(low[k])), finite(float(high[k]))],
                "proof": proof or None,
            }
        )
    return rows


def _reason(found: Sensitivity, i: int) -> str:
    """Say why a cell is sensitive, each rule once: a reason given for contributors is not repeated for holdings."""
    told: dict[str, str] = {}
    for rule, figures, finding in found.broken(i):
        told.setdefault(rule.name, rule.reason(figures, finding, i))
    return "; ".join(told.values())
