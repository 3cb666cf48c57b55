"""Attacks on files for publication, which the red team reads with its own eyes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import discreet as dc
from redteam import claims, readers
from redteam.case import Bench, Case, judged_case, sure
from redteam.enumeration import Belief, TooManyError
from redteam.eyes import seen
from redteam.judge import Failure, judge_figures, refuted
from redteam.of_counts import Target, judge_audit, target
from redteam.published import published
from redteam.readers import METHOD, OUTSIDER

FORMATS = {"csv": ".csv", "flags": ".csv", "sdmx-csv": ".csv", "xlsx": ".xlsx", "tab": ".tab"}
READABLE = {
    "random-rounding",
    "conventional-rounding",
    "controlled-rounding",
    "small-count-rounding",
    "semi-controlled-rounding",
    "hide-and-round",
    "suppress",
}
"""Methods whose figures every file explains in words."""
BY_FIGURE = ("random-rounding", "conventional-rounding", "hide-and-round")
OTHERS = 12
"""How many other originals are tried for one that has the same release."""


def written(bench: Bench) -> Iterator[Case]:
    """A release written as a file for publication, read by its reader, and by discreet for an audit."""
    at = target(bench, READABLE)
    method, world = at.method, at.world
    form = bench.random.choice(list(FORMATS))
    if method.name == "suppress" and bench.random.random() < 0.3:
        form = "tab"
    law = "method" if method.name in BY_FIGURE and bench.random.random() < 0.3 else "interval"
    seed = bench.seed() if method.random else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"release{FORMATS[form]}"
        try:
            release = method.apply(world.build(at.counts), seed)
            _write(release, path, form)
        except dc.DiscreetError:
            return
        # A file of τ-ARGUS says nothing of hidden figures; readers know that zeros are shown.
        least = method.least if form == "tab" else None
        known = seen(path, world, least=least)
        data = dc.audit(path, law=law, seed=bench.seed(), workers=1, proofs=0).to_dict()
        bytes_ = path.read_bytes()
    rows = list(claims.intervals(data, world))
    title = f"file ({form})"

    def by_outsider() -> tuple[int, list[Failure]]:
        belief = sure(readers.outsider(known, world), at.counts)
        count, found = judge_audit(data, rows, known, belief)
        return count + 1, [*found, *_twins(at, release, belief, form, bytes_)]

    def by_reader() -> tuple[int, list[Failure]]:
        belief = sure(readers.by_figure(known, world), at.counts)
        return len(rows), list(judge_figures(rows, belief, 0.0))

    yield judged_case(title, OUTSIDER, "audit", at, by_outsider)
    if law == "method":
        yield judged_case(title, METHOD, "audit", at, by_reader)


def _write(release: Any, path: Path, form: str) -> None:
    release.write(path, style=dc.Presentation(format=form))


def _twins(at: Target, release: Any, belief: Belief, form: str, bytes_: bytes) -> Iterator[Failure]:
    """Judge the claim that originals with the same release make the same bytes, on a few that are not ruled out."""
    if at.method.random or belief.open:
        return
    known, tried = published(release, at.reading), 0
    try:
        tables = belief.tables(len(at.world.leaves))
        for counts in tables:
            if counts == at.counts or not any(counts):
                continue
            if (tried := tried + 1) > OTHERS:
                return
            try:
                other = at.method.apply(at.world.build(counts))
            except dc.DiscreetError:
                continue
            if published(other, at.reading) == known:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / f"release{FORMATS[form]}"
                    _write(other, path, form)
                    if path.read_bytes() != bytes_:
                        yield refuted("same bytes", f"{counts} has the same release and another {form} file")
                return
    except TooManyError:
        return
