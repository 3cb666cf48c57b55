"""What may be published in place of suppressed figures: the intervals that readers can work out, or synthetic values.

Both are computed from the marked release alone, so they reveal nothing that it does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.text import choices
from discreet.feasible.bounds import bounds
from discreet.protect.suppression.completion import fit
from discreet.table.equations import Layout, equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED, Interval, Simulated, Unshown
from discreet.table.release import Release

Form: TypeAlias = Literal["marks", "intervals", "synthetic"]


def check_form(form: str) -> None:
    """Refuse a form that is not known."""
    if form not in get_args(Form):
        raise RequestError(f"form is {form!r}; give {choices(get_args(Form))}")


def show_as(
    release: Release,
    form: Form,
    *,
    least: float = 0.0,
    layout: Layout | None = None,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> Release:
    """Return a release with its suppressed figures shown as intervals or as synthetic values.

    An interval goes from the smallest to the largest value that fits everything published; unbounded figures stay
    marked. Synthetic values lie inside the intervals, near their middles, and keep every sum. The form ``"marks"``
    leaves the release unchanged; ``least`` is the lower bound that readers know for every value.

    >>> both = {"r": [1, 2, 3, "Total"], "c": [1, 2, "Total"]}
    >>> geurts = Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    >>> shown = show_as(Release.of(geurts, "suppress"), "synthetic").figures[0]
    >>> shown.values[geurts.hidden].tolist()
    [4, 3, 2, 1]
    """
    check_form(form)
    marked = release.parts()
    if form == "marks" or not any(part.hidden.any() for part in marked):
        return release
    equations = equations_of(marked, least=least, asked={}, layout=layout)
    until = clock or Clock()
    found = bounds(equations, np.flatnonzero(equations.hidden), time_limit=until.left, progress=progress)
    until.refuse_late("not all intervals of suppressed figures were found")
    if form == "intervals":
        lower, upper = found.lower, found.upper
    else:
        # The middle of every interval; of an unbounded one, its lower end.
        low = np.where(found.lower <= -UNBOUNDED, np.minimum(found.upper, 0), found.lower)
        high = np.where(found.upper >= UNBOUNDED, low, found.upper)
        lower = upper = fit(equations, low + (high - low) // 2, until)
    kind = Interval if form == "intervals" else Simulated
    shown = [
        _filled(part, equations.rows_of(part), lower, upper, kind, 10 ** (equations.decimals - part.decimals))
        for part in marked
    ]
    return replace(release, parameters={**release.parameters, "form": form}, figures=tuple(shown))


def _filled(
    figures: Figures, place: IntArray, lower: IntArray, upper: IntArray, kind: type[Unshown], scale: int
) -> Figures:
    """Return figures with suppressed ones shown as intervals or synthetic values; unbounded ones stay hidden.

    What is shown agrees with what the mark in its place says, which readers know.
    """
    low, high = -(-lower[place] // scale), upper[place] // scale
    rest = figures.values if figures.upper is None else figures.upper
    shown = figures.hidden & (low > -UNBOUNDED // scale) & (high < UNBOUNDED // scale)
    return replace(
        figures,
        values=np.where(shown, low, figures.values),
        kind=np.where(shown, len(figures.kinds) + figures.kind, figures.kind),
        kinds=(*figures.kinds, *(kind(*mark.said) for mark in figures.kinds)),
        upper=np.where(shown, high, rest) if kind.spans else figures.upper,
    )
